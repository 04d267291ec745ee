package job

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringtrain/input/convert"
)

// howRead has a value of each key that says how files are read, and another value: the default where
// the key has one that differs.
var howRead = []struct{ key, format, value, other string }{
	{"base", "libsvm", "1", "0"},
	{"base", "libffm", "1", "0"},
	{"header", "csv", "true", "false"},
	{"separator", "csv", "tab", ","},
	{"trim", "csv", "true", "false"},
	{"label", "tfrecord", "y", "label"},
	{"ids", "tfrecord", "i", "ids"},
	{"values", "tfrecord", "v", "values"},
	{"compression", "tfrecord", "gzip", "auto"},
}

// TestHowReadIsComplete verifies that howRead has each key of a set of records but those that name files.
func TestHowReadIsComplete(t *testing.T) {
	c := Default()
	for _, o := range c.Options() {
		name, ok := strings.CutPrefix(o.Key, "input.train.")
		if !ok || slices.Contains([]string{"format", "files", "images", "labels"}, name) {
			continue
		}
		if !slices.ContainsFunc(howRead, func(r struct{ key, format, value, other string }) bool { return r.key == name }) {
			t.Errorf("no case of input.train.%s", name)
		}
	}
}

// TestInherit verifies for each key that says how files are read that validation records take its value
// from input.train if the format is the same and no source says the key, and that the printed job file
// has the values that are in force. A key that is said with its default counts as said.
func TestInherit(t *testing.T) {
	const file = `
model: {kind: fm, fields: %d}
optimizer: {learning_rate: 1}
input:
  train: {format: %s, files: [a], %s: %q}
  eval:  {format: %s, files: [b]}
  evals:
    - {name: same, format: %[2]s, files: [c]}
    - {name: other, format: vw, files: [d]}
`
	for _, r := range howRead {
		t.Run("key="+r.key+" format="+r.format, func(t *testing.T) {
			text := strings.ReplaceAll(fmt.Sprintf(file, 0, r.format, r.key, r.value, r.format), `"`+r.value+`"`, r.value)
			columns := "\n  columns: [label: {names: [y]}, categorical: {names: [c], hash: 5}]\n"
			if r.format == "csv" {
				text = strings.Replace(text, "    - {name: other, format: vw, files: [d]}", "    - {name: other, format: criteo, files: [d]}"+columns, 1)
			}
			for _, source := range []struct {
				name          string
				environ, sets []string
				want          string
			}{
				{"nothing", nil, nil, r.value},
				{"flag", nil, []string{"input.eval." + r.key + "=" + r.other, "input.evals.same." + r.key + "=" + r.other}, r.other},
				{"environment", []string{"RINGTRAIN_INPUT_EVAL_" + strings.ToUpper(r.key) + "=" + r.other},
					[]string{"input.evals=[{name: same, format: " + r.format + ", files: c, " + r.key + ": '" + r.other + "'}, {name: other, format: criteo, files: d}]"}, r.other},
			} {
				if source.name == "environment" {
					source.sets[0] = strings.ReplaceAll(source.sets[0], "'"+r.other+"'", quotedIf(r.key != "base" && r.key != "header" && r.key != "trim", r.other))
					if r.format != "csv" {
						source.sets[0] = strings.ReplaceAll(source.sets[0], "criteo", "vw")
					}
				}
				c, err := load(t, text, source.environ, source.sets)
				if err != nil {
					t.Fatalf("said by %s: %v", source.name, err)
				}
				printed, err := c.File()
				if err != nil {
					t.Fatal(err)
				}
				again, err := load(t, string(printed), nil, nil)
				if err != nil {
					t.Fatalf("said by %s: %v in\n%s", source.name, err, printed)
				}
				for _, c := range []*Config{c, again} {
					if got := valueOf(t, &c.Input.Eval, r.key); got != source.want {
						t.Errorf("said by %s: input.eval.%s is %s, want %s", source.name, r.key, got, source.want)
					}
					if got := valueOf(t, &c.Input.Evals[0].Files, r.key); got != source.want {
						t.Errorf("said by %s: input.evals.same.%s is %s, want %s", source.name, r.key, got, source.want)
					}
					if got := valueOf(t, &c.Input.Evals[1].Files, r.key); got == r.value {
						t.Errorf("said by %s: input.evals.other.%s is %s, but its format is another", source.name, r.key, got)
					}
				}
			}
		})
	}
}

// TestInheritFormat verifies that validation records with files and no format have that of the training
// records, and that a fault which they inherit is told once.
func TestInheritFormat(t *testing.T) {
	const text = `
model: {kind: fm}
optimizer: {learning_rate: 1}
input:
  train: {format: %s, files: [a], %s: %s}
  eval:  {files: [b]}
  evals: [{name: more, files: [c]}]
`
	for _, r := range howRead {
		columns := ""
		if r.format == "csv" {
			columns = "  columns: [label: {names: [y]}, categorical: {names: [c], hash: 5}]\n"
		}
		c, err := load(t, fmt.Sprintf(text, r.format, r.key, r.value)+columns, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []*Files{&c.Input.Eval, &c.Input.Evals[0].Files} {
			if string(f.Format) != r.format || valueOf(t, f, r.key) != r.value {
				t.Errorf("format %s and %s %s, want %s and %s", f.Format, r.key, valueOf(t, f, r.key), r.format, r.value)
			}
		}
	}
	for _, bad := range []string{"format: csv, files: [a], separator: ab", "format: libsvm, files: [a], header: true", "format: svm, files: [a]"} {
		_, err := load(t, strings.Replace(text, "format: %s, files: [a], %s: %s", bad, 1)+"  columns: [label: {names: [y]}, categorical: {names: [c], hash: 5}]\n", nil, nil)
		if err == nil || strings.Contains(err.Error(), "input.eval") {
			t.Errorf("%s: error %v, want the faults of input.train alone", bad, err)
		}
	}
}

// TestNoFormat verifies that a key of validation records that have no format is an error, and not ignored.
func TestNoFormat(t *testing.T) {
	for _, r := range howRead {
		text := "model: {kind: fm}\noptimizer: {learning_rate: 1}\ninput: {train: {format: libsvm, files: [a]}}\n"
		_, err := load(t, text, nil, []string{"input.eval." + r.key + "=" + r.value})
		if err == nil || !strings.Contains(err.Error(), "input.eval.format is empty") {
			t.Errorf("input.eval.%s=%s without a format: error %v", r.key, r.value, err)
		}
	}
}

func quotedIf(text bool, value string) string {
	if text {
		return fmt.Sprintf("%q", value)
	}
	return value
}

// valueOf returns the value of a key of f.
func valueOf(t *testing.T, f *Files, key string) string {
	t.Helper()
	all := map[string]string{
		"base": fmt.Sprint(f.Base), "header": fmt.Sprint(f.Header), "separator": f.Separator, "trim": fmt.Sprint(f.Trim),
		"label": f.Label, "ids": f.IDs, "values": f.Values, "compression": f.Compression,
	}
	return all[key]
}

// TestCheckLabel verifies that input.columns without a label is a usage error with its place, for each
// format that has columns, and that criteo's own columns and synthetic records need none.
func TestCheckLabel(t *testing.T) {
	const columns = "  columns:\n    - numeric: {names: [a]}\n"
	for _, format := range convert.Names(convert.Format.HasColumns) {
		text := "model: {kind: linear}\noptimizer: {learning_rate: 1}\ninput:\n  train: {format: " + format + ", files: [a]}\n"
		c, err := load(t, text+columns, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.CheckLabel(); err == nil || !strings.Contains(err.Error(), ":5:3: input.columns has no label, want one to train or evaluate") {
			t.Errorf("format=%s: error %v", format, err)
		}
		c.Input.Synthetic = true
		if err := c.CheckLabel(); err != nil {
			t.Errorf("format=%s: error %v of synthetic records", format, err)
		}
	}
	c := Config{Input: Input{Train: Files{Format: "criteo"}}}
	if err := c.CheckLabel(); err != nil {
		t.Errorf("error %v of criteo's own columns", err)
	}
}
