package records

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringtrain/input"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

// TestScaledLabel verifies that the label of a regression is learnt as asked for, that the head brings what is learnt
// back to the label, and that a cache and another run have the same scale.
func TestScaledLabel(t *testing.T) {
	prices := []float64{120000, 98500.5, 1e6, 0, -300, 250000}
	dir := t.TempDir()
	table := "x,price\n"
	for i, y := range prices {
		table += fmt.Sprintf("%d,%v\n", i, y)
	}
	file := "model: {kind: linear}\ninput:\n  cache: cache\n  train: {format: csv, files: [t.csv], header: true}\n  columns:\n    - label: {names: [price], standardize: true, transform: log1p}\n    - numeric: {names: [x]}\noptimizer: {name: adam}\n"
	for name, text := range map[string]string{"t.csv": table, "job.yml": file} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cfg, err := job.Load(filepath.Join(dir, "job.yml"), nil, []string{"input.cache=" + filepath.Join(dir, "cache")})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Roots: []string{dir}}
	for range 2 { // the second reads a cache
		set, err := NewOpener(cfg, o).Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		m, err := set.NewModel(cfg)
		if err != nil {
			t.Fatal(err)
		}
		var b input.Batch
		for i := range prices {
			if err := set.Train.Append(&b, i); err != nil {
				t.Fatal(err)
			}
		}
		sum, squares := 0.0, 0.0
		for i, y := range b.Y {
			sum, squares = sum+float64(y), squares+float64(y)*float64(y)
			if got := m.Graph().Head.Unit(y); math.Abs(got-prices[i]) > 2e-6*math.Abs(prices[i])+1e-4 {
				t.Errorf("label %v comes back as %v", prices[i], got)
			}
		}
		if n := float64(len(b.Y)); math.Abs(sum/n) > 1e-6 || math.Abs(squares/n-1) > 1e-6 {
			t.Errorf("labels that are learnt are %v, want mean 0 and deviation 1", b.Y)
		}
		if err := set.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := MakeCaches(t.Context(), cfg, o); err != nil {
			t.Fatal(err)
		}
	}
	_, err = job.Load(filepath.Join(dir, "job.yml"), nil, []string{"loss.kind=sigmoid"})
	if err == nil || exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "input.columns.0.label has standardize or transform, want none: the labels are classes") {
		t.Errorf("a scaled label of classes: error %v", err)
	}
	_, err = job.Load(filepath.Join(dir, "job.yml"), nil, []string{"model.classes=[a, b]", "input.columns.0.label.strip=$"})
	if err == nil || exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), "input.columns.0.label has decimal or strip, want none: names of model.classes are texts") {
		t.Errorf("characters left out of names: error %v", err)
	}
}
