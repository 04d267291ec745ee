package records

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/model/graph"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

// classJob returns a job of a table in a folder, with model.classes.
func classJob(t *testing.T, table, classes string, sets ...string) (*job.Config, Options) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"t.csv":   table,
		"names":   "no\nmaybe\nyes\n",
		"job.yml": "model: {kind: sparse-linear, classes: " + classes + "}\ninput:\n  train: {format: csv, files: [t.csv], header: true}\n  columns:\n    - label: {names: [y]}\n    - categorical: {names: [c], hash: 10}\noptimizer: {name: adam}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := job.Load(filepath.Join(dir, "job.yml"), nil, sets)
	if err != nil {
		t.Fatal(err)
	}
	return cfg, Options{Roots: []string{dir}}
}

// TestClassesOfTable verifies the classes of the labels of a table, by a list, a file and the labels themselves: their
// order, the loss that follows from their number, and that the model has their names.
func TestClassesOfTable(t *testing.T) {
	const three = "c,y\na,yes\nb,no\nc,maybe\nd,no\n"
	for _, tt := range []struct {
		table, classes string
		names          string
		y              []float32
		head           graph.HeadKind
	}{
		{three, "[yes, no, maybe]", "yes no maybe", []float32{0, 1, 2, 1}, graph.HeadClasses},
		{three, "names", "no maybe yes", []float32{2, 0, 1, 0}, graph.HeadClasses},
		{three, "auto", "maybe no yes", []float32{2, 1, 0, 1}, graph.HeadClasses},
		{"c,y\na,5\nb,1.0\nc,3\nd,10\n", "auto", "1 3 5 10", []float32{2, 0, 1, 3}, graph.HeadClasses},
		{"c,y\na,Yes\nb,no\n", "auto", "no Yes", []float32{1, 0}, graph.HeadBinary},
		{"c,y\na,0\nb,1\n", "[1, 0]", "1 0", []float32{1, 0}, graph.HeadBinary},
	} {
		cfg, o := classJob(t, tt.table, tt.classes)
		set, err := NewOpener(cfg, o).Open(t.Context())
		if err != nil {
			t.Fatalf("classes %s: %v", tt.classes, err)
		}
		defer set.Close()
		m, err := set.NewModel(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if head := m.Graph().Head; head.Kind != tt.head || strings.Join(head.Labels, " ") != tt.names {
			t.Errorf("classes %s make %+v, want the head %v with %s", tt.classes, head, tt.head, tt.names)
		}
		var b input.Batch
		for i := range tt.y {
			if err := set.Train.Append(&b, i); err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(b.Y, tt.y) {
			t.Errorf("classes %s: labels are %v, want %v", tt.classes, b.Y, tt.y)
		}
	}
}

// TestClassesRefused verifies the errors of labels that are no class, of a label with one value, of a model that
// does not fit the number of classes, and of a text where the label is to be a number.
func TestClassesRefused(t *testing.T) {
	for _, tt := range []struct {
		table, classes string
		sets           []string
		code           int
		want           string
	}{
		{"c,y\na,yes\nb,huh\n", "[yes, no]", nil, exitcode.BadData, `column y is "huh", want one of yes, no`},
		{"c,y\na,yes\nb,yes\n", "auto", nil, exitcode.BadData, `column y: the label is "yes" in each training record, want two classes or more`},
		{"c,y\na,\nb,yes\n", "auto", nil, exitcode.BadData, "column y is missing, want a label"},
		{"c,y\na,1\nb,2\nc,3\n", "auto", []string{"loss.kind=sigmoid"}, exitcode.Usage, "model.classes has 3 names, want two with loss.kind sigmoid"},
		{"c,y\na,1\nb,2\nc,3\n", "auto", []string{"train.class_weights=1,2"}, exitcode.Usage, "train.class_weights has 2 weights, want one for each of 3 classes"},
		{"c,y\na,yes\nb,no\n", "0", nil, exitcode.BadData, `column y is "yes", want a number, or model.classes: auto`},
		{"c,y\na,1\n", "none.txt", nil, exitcode.NoInput, "none.txt"},
	} {
		cfg, o := classJob(t, tt.table, tt.classes, tt.sets...)
		set, err := NewOpener(cfg, o).Open(t.Context())
		if err == nil {
			set.Close()
		}
		if err == nil || exitcode.Of(err) != tt.code || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("classes %s of %q: error %v (%d), want %q (%d)", tt.classes, tt.table, err, exitcode.Of(err), tt.want, tt.code)
		}
	}
}

// TestClassesHeldOut verifies that a class that validation records alone have is not learnt: such a record is bad.
func TestClassesHeldOut(t *testing.T) {
	table := "c,y\n" + strings.Repeat("a,1\nb,2\n", 20)
	cfg, o := classJob(t, table, "auto", "input.split.share=0.2", "input.max_bad_records=1")
	held := cfg.Input.Split.Parts(40)
	for i := range 40 {
		if held.Has(i, input.Validation) {
			lines := strings.Split(table, "\n")
			lines[1+i] = "c,3"
			table = strings.Join(lines, "\n")
			break
		}
	}
	if err := os.WriteFile(filepath.Join(o.Roots[0], "t.csv"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	set, err := NewOpener(cfg, o).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	if got := cfg.Model.Names(); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("learnt the classes %q, want 1 and 2", got)
	}
	var b input.Batch
	if err := input.AppendGood(&b, set.Eval, []int{0, 1, 2, 3, 4, 5, 6, 7}); err != nil || len(b.Bad) != 1 || !strings.Contains(b.Fault.Error(), `column y is "3", want one of 1, 2`) {
		t.Errorf("bad validation records %v, %v, %v, want one of the class 3", b.Bad, b.Fault, err)
	}
}
