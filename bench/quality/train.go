package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A trainer runs jobs of ringtrain.
type trainer struct {
	program, data string
	short         bool
	say           func(string)

	logs map[string]string // folders of click logs, by their options
}

// An outcome is the result of a run.
type outcome struct {
	accuracy  float64 // on the validation records
	auc       float64 // on the validation records, if labels are 0 and 1
	limits            // figures with an upper bound
	objective float64 // of the last step, with the penalty
	took      time.Duration
	err       error
}

// one runs one training.
func (t trainer) one(ctx context.Context, e entry, ranks, seed int, sets ...string) outcome {
	folder, err := os.MkdirTemp("", "quality")
	if err != nil {
		return outcome{err: err}
	}
	defer os.RemoveAll(folder)
	job := filepath.Join(folder, e.name+".yaml")
	if err := os.WriteFile(job, []byte("name: "+e.name+"\n"+e.job), 0o600); err != nil {
		return outcome{err: err}
	}
	argv := []string{"train", "--json", job}
	if ranks > 1 {
		argv = []string{"run", "-np", strconv.Itoa(ranks), "--json", job}
	}
	data := t.data
	if e.log != "" {
		if data, err = t.drawLog(ctx, e.log); err != nil {
			return outcome{err: err}
		}
	}
	if data != "" {
		argv = append(argv, "--data", data)
	}
	for _, s := range append([]string{fmt.Sprintf("train.seed=%d", seed)}, sets...) {
		argv = append(argv, "--set", s)
	}
	cmd, said := exec.CommandContext(ctx, t.program, argv...), new(bytes.Buffer)
	cmd.Stderr = said
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	start := time.Now()
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		return outcome{err: fmt.Errorf("%w: %s", err, lines[len(lines)-1])}
	}
	o := read(out)
	o.took = time.Since(start)
	return o
}

// drawLog returns the folder of a click log with the given options. It draws each log
// once.
func (t trainer) drawLog(ctx context.Context, options string) (string, error) {
	if folder, ok := t.logs[options]; ok {
		return folder, nil
	}
	folder, err := os.MkdirTemp("", "quality-clicks")
	if err != nil {
		return "", err
	}
	t.logs[options] = folder
	argv := append([]string{"data", "make", "clicks", "--to", folder}, strings.Fields(options)...)
	if out, err := exec.CommandContext(ctx, t.program, argv...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return folder, nil
}

// removeLogs removes the logs of drawLog.
func (t trainer) removeLogs() {
	for _, folder := range t.logs {
		os.RemoveAll(folder)
	}
}

// read returns the last objective and the last evaluation of a run's events.
func read(out []byte) outcome {
	var o outcome
	done := false
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var e struct {
			Event     string   `json:"event"`
			Objective *float64 `json:"objective"`
			Loss      any      `json:"loss"`
			Eval      struct {
				Accuracy float64 `json:"accuracy"`
				AUC      float64 `json:"auc"`
				RMSE     float64 `json:"rmse"`
				LogLoss  float64 `json:"log_loss"`
			} `json:"eval"`
		}
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		if e.Event == "step" && e.Objective != nil {
			o.objective = *e.Objective
		}
		if e.Event == "done" {
			o.accuracy, o.auc, done = e.Eval.Accuracy, e.Eval.AUC, true
			o.rmse, o.logLoss = e.Eval.RMSE, e.Eval.LogLoss
			o.progressive, _ = e.Loss.(float64)
		}
	}
	if !done {
		o.err = fmt.Errorf("the run printed no event done")
	}
	return o
}

// A row is a line of the table.
type row struct {
	entry
	one   outcome         // the median of three seeds on one rank
	four  *outcome        // one seed on four ranks
	drawn *outcome        // one seed on drawn records
	on    map[int]outcome // by ranks, for an optimum
}

const fourRanks = 4

// row runs all trainings of an entry.
func (t trainer) row(ctx context.Context, e entry) row {
	r := row{entry: e}
	if e.optimum > 0 {
		r.on = map[int]outcome{}
		for _, n := range e.ranks {
			if t.short && n > 1 {
				break
			}
			r.on[n] = t.one(ctx, e, n, 1)
			t.tell(e, fmt.Sprintf("%d ranks", n), r.on[n])
		}
		return r
	}
	var seeds []outcome
	for seed := 1; seed <= 3 && (seed == 1 || !t.short); seed++ {
		o := t.one(ctx, e, 1, seed)
		t.tell(e, fmt.Sprintf("seed %d", seed), o)
		seeds = append(seeds, o)
	}
	r.one = median(seeds)
	if t.short {
		return r
	}
	o := t.one(ctx, e, fourRanks, 1)
	t.tell(e, "4 ranks", o)
	r.four = &o
	if e.drawn {
		o := t.one(ctx, e, 1, 1, drawnSets()...)
		t.tell(e, "drawn records", o)
		r.drawn = &o
	}
	return r
}

// drawnSets returns the options for drawn records.
func drawnSets() []string {
	return []string{"input.synthetic=true", "input.train.format=", "input.eval.format=", "input.train.images=", "input.train.labels=",
		"input.eval.images=", "input.eval.labels="}
}

func (t trainer) tell(e entry, what string, o outcome) {
	t.say(fmt.Sprintf("%s, %s: %s", e.name, what, e.cell(o)))
}

// compare orders outcomes from the worst to the best.
func compare(a, b outcome) int {
	return cmp.Or(cmp.Compare(a.accuracy, b.accuracy), cmp.Compare(a.auc, b.auc), cmp.Compare(b.rmse, a.rmse),
		cmp.Compare(b.logLoss, a.logLoss), cmp.Compare(b.progressive, a.progressive))
}

// median returns the median outcome, or the first failed one.
func median(all []outcome) outcome {
	for _, o := range all {
		if o.err != nil {
			return o
		}
	}
	slices.SortFunc(all, compare)
	return all[len(all)/2]
}
