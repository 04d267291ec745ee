package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringtrain/model/job"
)

// TestEntriesLoad verifies that ringtrain reads the job of each entry, also with drawn
// records, and that the job fits the entry's description.
func TestEntriesLoad(t *testing.T) {
	for _, e := range entries() {
		path := filepath.Join(t.TempDir(), "job.yaml")
		if err := os.WriteFile(path, []byte("name: "+e.name+"\n"+e.job), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := job.Load(path, nil, nil)
		if err != nil {
			t.Errorf("%s: %v", e.name, err)
			continue
		}
		if (e.optimum > 0) == (e.bar > 0 || e.auc > 0 || e.most != (limits{}) || e.reported) || e.optimum > 0 && (len(e.ranks) == 0 || cfg.Train.Steps > 5000 || cfg.Model.L2 != 1e-4) {
			t.Errorf("%s: entry %+v", e.name, e)
		}
		if e.bar > 0 && strings.HasPrefix(cfg.Input.Train.Images, "mnist/") && cfg.Train.Epochs > 10 {
			t.Errorf("%s: %d epochs, want 10 or less", e.name, cfg.Train.Epochs)
		}
		if e.drawn {
			if _, err := job.Load(path, nil, drawnSets()); err != nil {
				t.Errorf("%s on drawn records: %v", e.name, err)
			}
		}
	}
}

// TestGood verifies both kinds of bars at their limits.
func TestGood(t *testing.T) {
	accuracy, clicks, optimum := entry{bar: 0.9}, entry{bar: 0.9, auc: 0.8}, entry{optimum: 0.25}
	loss := entry{auc: 0.7, most: limits{logLoss: 0.5}}
	of := func(logLoss float64) outcome { return outcome{auc: 0.7, limits: limits{logLoss: logLoss}} }
	for _, c := range []struct {
		name string
		e    entry
		o    outcome
		want bool
	}{
		{"reached", accuracy, outcome{accuracy: 0.9}, true},
		{"missed", accuracy, outcome{accuracy: 0.8999}, false},
		{"failed", accuracy, outcome{accuracy: 1, err: errors.New("broken")}, false},
		{"AUC missed", clicks, outcome{accuracy: 0.9, auc: 0.79}, false},
		{"AUC reached", clicks, outcome{accuracy: 0.9, auc: 0.8}, true},
		{"log loss reached", loss, of(0.5), true},
		{"log loss missed", loss, of(0.5001), false},
		{"log loss not told", loss, of(0), false},
		{"RMSE missed", entry{most: limits{rmse: 4.8}}, outcome{limits: limits{rmse: 4.81}}, false},
		{"progressive loss reached", entry{most: limits{progressive: 0.56}}, outcome{limits: limits{progressive: 0.55}}, true},
		{"reported", entry{reported: true}, outcome{}, true},
		{"near", optimum, outcome{objective: 0.25009}, true},
		{"not near", optimum, outcome{objective: 0.25011}, false},
		{"below", optimum, outcome{objective: 0.2499}, false},
		{"none", optimum, outcome{}, false},
	} {
		if got := c.e.good(c.o); got != c.want {
			t.Errorf("%s: good is %v, want %v", c.name, got, c.want)
		}
	}
}

// TestRead verifies that the last objective and the final evaluation count, and that a
// run without an end has failed.
func TestRead(t *testing.T) {
	steps := `{"event":"step","objective":0.5}
{"event":"step","objective":0.25}
{"event":"eval","accuracy":0.1}
words
`
	o := read([]byte(steps + `{"event":"done","loss":0.4,"eval":{"accuracy":0.93,"auc":0.97,"rmse":2,"log_loss":0.3}}`))
	if want := (limits{2, 0.3, 0.4}); o.limits != want {
		t.Errorf("figures are %+v, want %+v", o.limits, want)
	}
	if o.err != nil || o.accuracy != 0.93 || o.auc != 0.97 || o.objective != 0.25 {
		t.Errorf("outcome is %+v, want 0.93 and 0.25", o)
	}
	if o := read([]byte(steps)); o.err == nil {
		t.Error("no error without done")
	}
}

// TestRow verifies the runs of an entry (seeds, ranks and records) and the table. The
// program is a script.
func TestRow(t *testing.T) {
	folder := t.TempDir()
	program, calls := filepath.Join(folder, "program"), filepath.Join(folder, "calls")
	script := `#!/bin/sh
echo "$*" >>` + calls + `
case "$*" in
*train.seed=2*) a=0.97 ;;
*train.seed=3*) a=0.90 ;;
*-np*4*) a=0.94 ;;
*synthetic=true*) a=0.80 ;;
*) a=0.95 ;;
esac
echo '{"event":"step","objective":0.25005}'
echo "{\"event\":\"done\",\"eval\":{\"accuracy\":$a}}"
`
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	tr := trainer{program: program, data: "data", say: func(string) {}}
	r := tr.row(t.Context(), entry{name: "a", text: "a model", bar: 0.93, drawn: true})
	if r.one.accuracy != 0.95 || r.four.accuracy != 0.94 || r.drawn.accuracy != 0.80 || r.met() {
		t.Errorf("row is %+v, met %v", r, r.met())
	}
	o := tr.row(t.Context(), entry{name: "b", text: "an optimum", optimum: 0.25, ranks: []int{1, 2}})
	if len(o.on) != 2 || !o.met() {
		t.Errorf("row is %+v, met %v", o, o.met())
	}
	text := table([]row{r, o})
	for _, want := range []string{"| a: a model | 0.930 | 0.9500 in ", "0.8000 SHORT in ", "| b: an optimum | 0.25000000 | 1: +5.0e-05 in ", "| SHORT |", "| met |"} {
		if !strings.Contains(text, want) {
			t.Errorf("the table lacks %q:\n%s", want, text)
		}
	}
	said, err := os.ReadFile(calls)
	if err != nil || strings.Count(string(said), "\n") != 7 || !strings.Contains(string(said), "run -np 4 --json") || !strings.Contains(string(said), "--data data") {
		t.Errorf("calls are %s, error %v; want 7", said, err)
	}
	broken := tr
	broken.program = filepath.Join(folder, "none")
	if r := broken.row(t.Context(), entry{name: "a", bar: 0.1}); r.met() || !strings.Contains(table([]row{r}), "FAILED") {
		t.Errorf("row is %+v, want a failure", r)
	}
}

// TestMedian verifies that the median of seeds with a failure is a failure.
func TestMedian(t *testing.T) {
	all := []outcome{{accuracy: 3, took: time.Second}, {accuracy: 1}, {accuracy: 2}}
	if o := median(all); o.accuracy != 2 {
		t.Errorf("median is %v, want 2", o.accuracy)
	}
	if o := median(append(all, outcome{err: errors.New("broken")})); o.err == nil {
		t.Error("no error of a seed that failed")
	}
}

// TestChoose verifies the selection of entries and the refusal of an unknown name.
func TestChoose(t *testing.T) {
	if all, files, err := choose("convex,iris,raw"); err != nil || len(all) != len(optima())+1 || len(files) != len(rawEntries()) {
		t.Errorf("%d entries and %d raw files, error %v", len(all), len(files), err)
	}
	if _, _, err := choose("vgg"); err == nil || !strings.Contains(err.Error(), "softmax, mlp-100") {
		t.Errorf("error is %v", err)
	}
}
