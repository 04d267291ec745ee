package train

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"ringtrain/export/events"
	"ringtrain/model/train/report"
	"ringtrain/model/train/traintest"
)

// point is a point of a curve.
type point struct {
	step  int64
	value float32
}

// curvesOf returns the curves that TensorBoard shows for a folder: a START event removes the points after
// it.
func curvesOf(t *testing.T, dir string) map[string][]point {
	t.Helper()
	files, err := events.Files(dir)
	if err != nil || len(files) == 0 {
		t.Fatalf("%d event files, error %v", len(files), err)
	}
	all := map[string][]point{}
	for _, name := range files {
		r, err := events.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		var e events.Event
		for e, err = r.Next(); err == nil; e, err = r.Next() {
			for tag := range all {
				if e.Start {
					all[tag] = slices.DeleteFunc(all[tag], func(p point) bool { return p.step >= e.Step })
				}
			}
			for _, s := range e.Scalars {
				all[s.Tag] = append(all[s.Tag], point{e.Step, float32(s.Value)})
			}
		}
		if err != io.EOF {
			t.Fatal(err)
		}
	}
	return all
}

// stepsOf returns the steps of a curve.
func stepsOf(curve []point) []int64 {
	var steps []int64
	for _, p := range curve {
		steps = append(steps, p.step)
	}
	return steps
}

// curveNames are the names of all curves of the steps and of evaluations. They stay what they are: people have
// boards of them.
var (
	stepCurves = strings.Fields("epoch loss examples_per_s compute_s update_s reduce_s input_s exposed_s objective learning_rate exchange_share")
	evalCurves = strings.Fields("epoch examples loss correct accuracy auc rmse mae r2 top_k log_loss normalized_entropy calibration threshold precision recall f1 bad_records")
)

// numbersOf returns the numbers of an event that have curves of these names, by their names in JSON. A list
// counts as its mean.
func numbersOf(t *testing.T, e report.Event, names []string) map[string]float32 {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(traintest.JSON(t, e)), &fields); err != nil {
		t.Fatal(err)
	}
	all := map[string]float32{}
	for _, name := range names {
		switch v := fields[name].(type) {
		case float64:
			all[name] = float32(v)
		case []any:
			sum := 0.0
			for _, x := range v {
				sum += x.(float64)
			}
			all[name] = float32(sum / float64(len(v)))
		}
	}
	switch e := e.(type) {
	case report.Step:
		all["exchange_share"] = float32(e.ExchangeShare())
	case report.Metrics:
		all["bad_records"] = float32(e.Bad)
	}
	return all
}

// TestSummary verifies that only rank 0 writes curves: each number of each step and evaluation, the
// learning rate, and the share of the exchange.
func TestSummary(t *testing.T) {
	dir := t.TempDir()
	job := loadText(t, digitsText, "summary.dir="+dir, "eval.every=4", "schedule.kind=linear")
	m := mustTrain(t, 2, job, digitsData(), nil)[0]
	if files, _ := events.Files(dir); len(files) != 1 {
		t.Errorf("files %v, want one", files)
	}
	got := curvesOf(t, dir)
	all := 0
	for _, e := range eventsOf[report.Step](m) {
		mustHave(t, got, "train/", e.Step, numbersOf(t, e, stepCurves))
		all = max(all, len(numbersOf(t, e, stepCurves)))
		rate := float32(0.1) * float32(10-(e.Step-1)) / 10
		at := got["train/learning_rate"][e.Step-1]
		if at.step != e.Step || math.Abs(float64(at.value-rate)) > 1e-7 {
			t.Errorf("learning rate %v, want %v after step %d", at, rate, e.Step)
		}
		if share := got["train/exchange_share"][e.Step-1]; share.value < 0 || share.value > 1 {
			t.Errorf("exchange share %v, want 0 to 1", share)
		}
	}
	evals := 0
	for _, e := range eventsOf[report.Metrics](m) {
		mustHave(t, got, "eval/", e.Step, numbersOf(t, e, evalCurves))
		evals = max(evals, len(numbersOf(t, e, evalCurves)))
	}
	if len(got) != all+evals {
		t.Errorf("%d curves, want %d and %d", len(got), all, evals)
	}
	if steps := stepsOf(got["eval/accuracy"]); !slices.Equal(steps, []int64{4, 8, 10}) {
		t.Errorf("evaluated at %v, want 4, 8, 10", steps)
	}
}

// mustHave fails the test if a number is not on its curve.
func mustHave(t *testing.T, got map[string][]point, group string, step int64, want map[string]float32) {
	t.Helper()
	if len(want) < 5 {
		t.Errorf("%d numbers: nothing is shown", len(want))
	}
	for name, v := range want {
		if !slices.Contains(got[group+name], point{step, v}) {
			t.Errorf("%s%s lacks %v at step %d: %v", group, name, v, step, got[group+name])
		}
	}
}

// TestSummaryWithoutValidation verifies that an evaluation of the training records has curves with
// another name.
func TestSummaryWithoutValidation(t *testing.T) {
	dir := t.TempDir()
	mustTrain(t, 1, loadText(t, linearText, "summary.dir="+dir), linearData(), nil)
	got := curvesOf(t, dir)
	if len(got["eval_train/rmse"]) != 1 || len(got["eval/rmse"]) != 0 {
		t.Errorf("curves %v, want eval_train/rmse", got)
	}
}

// TestSummaryResumed verifies that a run that is killed and resumed, and a finished run that is
// started again, show one curve with each step once.
func TestSummaryResumed(t *testing.T) {
	dir := t.TempDir()
	sets := []string{"summary.dir=" + dir, "checkpoint.dir=" + t.TempDir(), "checkpoint.every=4", "eval.every=3"}
	job := loadText(t, digitsText, sets...)
	killed := trainOn(t, 2, job, digitsData(), func(m *member) {
		m.end = func(step int64) error {
			if step == 7 {
				return fmt.Errorf("killed")
			}
			return nil
		}
	})[0]
	if killed.err == nil {
		t.Fatal("the run was not killed")
	}
	killed.trainer.reporter.curves.close() // a process that is dead writes nothing
	if steps := stepsOf(curvesOf(t, dir)["train/loss"]); len(steps) < 6 {
		t.Fatalf("steps %v before the kill, want 6 or more: nothing is repeated", steps)
	}
	for range 2 {
		mustTrain(t, 2, job, digitsData(), nil)
		got := curvesOf(t, dir)
		if steps := stepsOf(got["train/loss"]); !slices.Equal(steps, []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
			t.Errorf("steps %v, want 1 to 10 once", steps)
		}
		if steps := stepsOf(got["eval/loss"]); !slices.Equal(steps, []int64{3, 6, 9, 10}) {
			t.Errorf("evaluations %v, want 3, 6, 9, 10 once", steps)
		}
	}
}

// TestSummaryRecovered kills rank 0 and rank 1 at each frame of a run and starts another process in
// its place. It verifies that the curve has each step once, except steps that a killed process had
// not written yet.
func TestSummaryRecovered(t *testing.T) {
	for _, victim := range []int{0, 1} {
		t.Run(fmt.Sprintf("rank=%d", victim), func(t *testing.T) {
			for at, over := 4, false; !over; at += 7 {
				dir := t.TempDir()
				job := loadText(t, linearText, "summary.dir="+dir, "input.batch=40", "train.steps=6", "eval.every=2")
				c := newProcesses(t, 2, job, linearData(), nil)
				over = c.runInMemory(map[int]*killedLink{victim: {frames: at}})
				if over {
					break
				}
				if w := c.members[victim].trainer.reporter.curves.file; w != nil {
					w.Close() // a process that is dead writes nothing
				}
				c.kill(victim)
				c.mustEnd()
				got := curvesOf(t, dir)
				if steps := stepsOf(got["train/loss"]); !slices.Equal(steps, []int64{1, 2, 3, 4, 5, 6}) {
					t.Errorf("frame=%d: steps %v, want 1 to 6 once", at, steps)
				}
				if steps := stepsOf(got["eval_train/loss"]); !slices.Equal(steps, []int64{2, 4, 6}) {
					t.Errorf("frame=%d: evaluations %v, want 2, 4, 6 once", at, steps)
				}
			}
		})
	}
}
