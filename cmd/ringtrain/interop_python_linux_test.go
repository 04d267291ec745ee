package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// newPython returns a box with the example of Python and its table, and the path of a python that has what
// deploy/python/interop.txt lists.
func newPython(t *testing.T) (b *box, python string) {
	python = os.Getenv("NOTEBOOK_PYTHON")
	if python == "" {
		t.Skip("set NOTEBOOK_PYTHON to a python with what deploy/python/interop.txt lists")
	}
	module, err := filepath.Abs("../../deploy/python")
	if err != nil {
		t.Fatal(err)
	}
	b = newBox(t).lasting(5*time.Minute).inPath().with("PYTHONPATH="+module, "PYTHONDONTWRITEBYTECODE=1")
	if err := os.CopyFS(b.dir, os.DirFS("../../examples/python")); err != nil {
		t.Fatal(err)
	}
	b.must(0, "data", "make", "table", "--rows", "4000", "--to", "data")
	return b, python
}

// TestInteropNotebook verifies that the cells of the example's notebook run in a real kernel, from the raw table to
// scores that are better than chance, that its files are where it says, and that it is committed without outputs.
func TestInteropNotebook(t *testing.T) {
	b, python := newPython(t)
	for i, cell := range cellsOf(b) {
		if len(cell.Outputs) != 0 {
			t.Errorf("cell %d is committed with its output", i)
		}
	}
	e := b.startProgram(filepath.Join(filepath.Dir(python), "jupyter-execute"), "--inplace", "churn.ipynb").wait()
	if e.code != 0 {
		t.Fatalf("a cell fails: %d\n%s%s", e.code, e.stdout, e.stderr)
	}
	auc := 0.0
	for _, cell := range cellsOf(b) {
		if strings.Contains(strings.Join(cell.Source, ""), `ringtrain.evaluate(run, new)["auc"]`) {
			fmt.Sscan(strings.Join(cell.Outputs[0].Data.Text, ""), &auc)
		}
	}
	if auc < 0.75 {
		t.Errorf("the AUC of new records is %v, want 0.75 or more", auc)
	}
	for _, name := range []string{"churn.html", "models/churn/churn.yaml", "models/churn/export/churn/1/saved_model.pb"} {
		if !slices.Contains(b.files(), name) {
			t.Errorf("%s is not there", name)
		}
	}
	b.nothingLeft(patience, nil)
}

// A notebookCell is one of a notebook, with its lines.
type notebookCell struct {
	Source  []string
	Outputs []struct {
		Data struct {
			Text []string `json:"text/plain"`
		}
	}
}

// cellsOf returns the cells of the example's notebook.
func cellsOf(b *box) []notebookCell {
	b.Helper()
	var notebook struct{ Cells []notebookCell }
	if err := json.Unmarshal([]byte(b.read("churn.ipynb")), &notebook); err != nil {
		b.Fatal(err)
	}
	return notebook.Cells
}

// TestInteropOptuna verifies that the example's search by the real Optuna ends trials early, leaves no rank of them,
// and trains the best one.
func TestInteropOptuna(t *testing.T) {
	b, python := newPython(t)
	e := b.startProgram(python, "search.py", "12").wait()
	said := e.stdout + e.stderr
	best := regexp.MustCompile(`(?m)^AUC (0\.\d+) with .*: (.*)$`).FindStringSubmatch(said)
	if e.code != 0 || best == nil || !strings.Contains(said, "pruned") {
		t.Fatalf("no trial was ended early, or none was the best:\n%s", said)
	}
	if auc, err := strconv.ParseFloat(best[1], 64); err != nil || auc < 0.75 {
		t.Errorf("the best AUC is %s, want 0.75 or more", best[1])
	}
	if said := b.must(0, "inspect", best[2]).stdout; !strings.Contains(said, "Yes") {
		t.Errorf("the model is\n%s\nwant one of the classes No and Yes", said)
	}
	b.nothingLeft(patience, nil)
}
