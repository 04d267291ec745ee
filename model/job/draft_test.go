package job

import (
	"strings"
	"testing"

	"ringtrain/input/convert"
	"ringtrain/input/look"
)

// TestDraftName verifies that a job is called by the name of a file, and that no such name leads out of
// the folders of its outputs.
func TestDraftName(t *testing.T) {
	for file, want := range map[string]string{"a/churn.csv.gz": "churn", "day.1.tsv": "day.1", ".csv": ".csv", "...csv": "job", "..csv.zst": "job", "x/..": "job", "a/*.csv": "job", "day*.csv.gz": "day"} {
		if got := DraftName([]string{file}); got != want {
			t.Errorf("%s gives the job %s, want %s", file, got, want)
		}
	}
}

// TestDraftComment verifies that a file's name stays in its comment and in its text.
func TestDraftComment(t *testing.T) {
	name := "a\nmodel: {kind: mlp}\u2028\u202e\u0085.csv"
	d := Draft{Table: &look.Table{Origin: convert.Origin{Format: "csv", Files: []string{name}}}, Name: DraftName([]string{name}), Kind: "linear"}
	d.Table.Label = &look.Label{Column: "y\rtrain: {steps: 1}"}
	text, _, _ := d.File()
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "model: {") || strings.HasPrefix(line, "train: {steps") || strings.ContainsAny(line, "\r\u2028\u202e\u0085") {
			t.Errorf("the job file has the line %q", line)
		}
	}
}
