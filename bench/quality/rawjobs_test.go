package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRawRow verifies that scikit-learn is asked for the columns as init sees them, that the five folds hold out each
// record once, and that the means are compared. The programs are scripts.
func TestRawRow(t *testing.T) {
	folder := t.TempDir()
	write := func(name, script string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script), 0o700); err != nil {
			t.Fatal(err)
		}
		return path
	}
	program := write("ringtrain", `
case "$1" in
init)
echo '{"event":"column","column":"age","becomes":"numeric"}'
echo '{"event":"column","column":"day","becomes":"time"}'
echo '{"event":"column","column":"city","becomes":"categorical"}'
echo '{"event":"column","column":"y","becomes":"label"}'
echo '{"event":"init","records":23,"label":{"column":"y","classes":["No","Yes"]}}'
printf 'model: {kind: linear}\ninput: {train: {format: csv, separator: tab, files: [x]}, columns: [label: {names: [y]}, numeric: {names: [age]}]}\noptimizer: {learning_rate: 1}\n' >job.yaml ;;
train) echo '{"event":"done","eval":{"auc":0.8}}' ;;
esac
`)
	python := write("python", "cat >"+filepath.Join(folder, "question")+"\n"+`echo '{"linear":[0.8,0.8,0.8,0.8,0.84],"trees":[1,1,1,1,1]}'`+"\n")
	r := trainer{program: program, data: "data", say: func(string) {}}.rawRow(t.Context(), rawEntry{name: "a", files: []string{"x.csv"}, label: "y"}, python)
	if r.err != nil || !r.met() || r.records != 23 {
		t.Fatalf("row is %+v", r)
	}
	if text := rawTable([]rawRow{r}); !strings.Contains(text, "| a: 23 records | linear, AUC | 0.8000 (0.8000 to 0.8000) | 0.8080 (0.8000 to 0.8400) | 1.0000 (1.0000 to 1.0000) | met |") {
		t.Errorf("the table is %s", text)
	}
	asked, err := os.ReadFile(filepath.Join(folder, "question"))
	var about looked
	if err != nil || json.Unmarshal(asked, &about) != nil {
		t.Fatalf("the question is %q, error %v", asked, err)
	}
	var all []int
	for _, fold := range about.HeldOut {
		all = append(all, fold...)
	}
	slices.Sort(all)
	if len(all) != 23 || len(slices.Compact(all)) != 23 || about.Separator != "\t" || about.Label != "y" ||
		!slices.Equal(about.Numbers, []string{"age"}) || !slices.Equal(about.Dates, []string{"day"}) || !slices.Equal(about.Texts, []string{"city"}) {
		t.Errorf("the question is %s", asked)
	}
}

// TestRawMet verifies both bars at their limits, and that a failure is none.
func TestRawMet(t *testing.T) {
	five := func(v float64) []float64 { return []float64{v, v, v, v, v} }
	for _, c := range []struct {
		name string
		r    rawRow
		want bool
	}{
		{"AUC", rawRow{ours: five(0.895), linear: five(0.9)}, true},
		{"AUC too low", rawRow{ours: five(0.885), linear: five(0.9)}, false},
		{"RMSE", rawRow{regression: true, ours: five(4.1), linear: five(4)}, true},
		{"RMSE too high", rawRow{regression: true, ours: five(4.2), linear: five(4)}, false},
		{"failed", rawRow{ours: five(1), linear: five(0.9), err: errors.New("broken")}, false},
		{"no fold", rawRow{}, false},
	} {
		if got := c.r.met(); got != c.want {
			t.Errorf("%s: met is %v, want %v", c.name, got, c.want)
		}
	}
}
