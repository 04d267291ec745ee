package show

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"ringtrain/model/train/trained"
)

// TestPredictRows verifies that a prediction is one row of as many fields as the others, whatever its key:
// rows of tabs write a tab or a line end of a key as \t, \n or \r and a backslash as two, and CSV keeps them.
func TestPredictRows(t *testing.T) {
	keys := []string{"a\tb", "c\nd", "e\r\nf", "", `back\slash`, `"quoted", key`, "\t\n"}
	var rows, lines bytes.Buffer
	w := csv.NewWriter(&lines)
	toCSV := CSVPredictions(w)
	for i := range keys {
		p := trained.Prediction{Record: i, Key: &keys[i], Scores: []float32{0.5, 0.25}}
		for _, write := range []func(trained.Prediction) error{func(p trained.Prediction) error { return Prediction(&rows, p) }, toCSV} {
			if err := write(p); err != nil {
				t.Fatal(err)
			}
		}
	}
	w.Flush()
	got := strings.Split(strings.TrimSuffix(rows.String(), "\n"), "\n")
	if len(got) != len(keys) || slices.ContainsFunc(got, func(row string) bool { return strings.Count(row, "\t") != 2 || strings.Contains(row, "\r") }) {
		t.Errorf("%d rows %q of %d records, want three fields each", len(got), got, len(keys))
	}
	if !slices.Contains(got, "0\ta\\tb\t0.5 0.25") || !slices.Contains(got, "1\tc\\nd\t0.5 0.25") || !slices.Contains(got, "4\tback\\\\slash\t0.5 0.25") {
		t.Errorf("rows %q", got)
	}
	r := csv.NewReader(bytes.NewReader(lines.Bytes()))
	records, err := r.ReadAll()
	if err != nil || len(records) != 1+len(keys) {
		t.Fatalf("%d lines of CSV, error %v", len(records), err)
	}
	for i, key := range keys {
		if got := records[1+i][0]; got != strings.ReplaceAll(key, "\r\n", "\n") { // as encoding/csv reads it
			t.Errorf("the key of CSV is %q, want %q", got, key)
		}
	}
}
