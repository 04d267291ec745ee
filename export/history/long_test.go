package history

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"ringtrain/model/train/report"
)

// evaluation returns an evaluation with the lists of ten classes.
func evaluation(step int64) report.Metrics {
	correct := int64(9123)
	e := report.Metrics{
		Step: step, Epoch: step/600 + 1, Split: "eval", Examples: 10_000, Loss: 0.269017384, Correct: &correct, Accuracy: report.NewNumber(0.9123), TopK: report.NewNumber(0.98765),
		LogLoss: report.NewNumber(0.269017384), Baseline: &report.Baseline{Accuracy: report.NewNumber(0.1135), LogLoss: report.NewNumber(2.3008)},
	}
	for range 10 {
		e.Precision = append(e.Precision, 0.912345678901)
		e.Recall = append(e.Recall, 0.902345678901)
		e.F1 = append(e.F1, 0.907345678901)
		e.Confusion = append(e.Confusion, []int64{980, 0, 2, 2, 0, 5, 8, 1, 4, 0})
	}
	return e
}

// heap returns the bytes of living objects.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestTenDays verifies the bounds of a run of ten days on 20 ranks with an evaluation a minute: at most
// 50 MB in the file and 16 MiB of memory in a Keeper, about 6,000 points of a curve, and as many of the
// first minute as after a minute.
func TestTenDays(t *testing.T) {
	if testing.Short() {
		t.Skip("long: ten days")
	}
	const days = 10 * 24 * time.Hour
	dir := t.TempDir()
	w, err := Open(dir, free, pass)
	if err != nil {
		t.Fatal(err)
	}
	before := heap()
	var keeper Keeper
	add := func(at time.Duration, e report.Event) {
		w.Add(after(at, e))
		keeper.Add(after(at, e))
		w.wait() // the simulated clock is faster than a disk
	}
	add(0, report.Start{Job: "mnist", WorldSize: 20})
	for at, step := time.Duration(0), int64(0); at < days; {
		tick := time.Second
		switch {
		case at < 10*time.Second:
			tick = 20 * time.Millisecond
		case at >= 2*time.Hour: // points are 14 s apart and more: one event stands for ten
			tick = 10 * time.Second
		}
		at += tick
		step += int64(tick / time.Millisecond / 20)
		add(at, report.Step{Step: step, Steps: 1 << 40, Epoch: step/600 + 1, Examples: 5000, Loss: 0.301234567 + report.Number(step%100)/1e6, LearningRate: 0.00987654, ExamplesPerS: 29750.123, Interval: report.Seconds(tick), Compute: report.Seconds(tick / 3), Update: report.Seconds(tick / 31), Reduce: report.Seconds(tick / 2), Input: report.Seconds(tick / 7), Exposed: report.Seconds(tick / 4), Left: report.Seconds(days - at), Straggler: &report.Straggler{Rank: 3, Host: "worker-00.cluster", Share: 0.412345}})
		if at%time.Second != 0 {
			continue
		}
		add(at, load(int(at/time.Second)))
		if at%time.Minute == 0 {
			add(at, evaluation(step))
		}
		if at%(10*time.Minute) == 0 {
			add(at, report.Checkpointed{Step: step, Path: "ckpt/mnist/step-000123"})
		}
	}
	memory := heap() - before
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	run, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	points, minute, lists := 0, 0, 0
	for _, s := range run.Events {
		switch e := s.Event.(type) {
		case report.Step:
			points++
			if s.Time.Sub(noon) <= time.Minute {
				minute++
			}
		case report.Metrics:
			if e.Confusion != nil {
				lists++
			}
		}
	}
	lines := 0
	for range keeper.After(0) {
		lines++
	}
	t.Logf("file %.1f MB, keeper %.1f MiB, %d points, %d in the first minute, %d evaluations with lists", float64(len(text))/1e6, float64(memory)/(1<<20), points, minute, lists)
	if len(text) > 50e6 || memory > 16<<20 {
		t.Errorf("the file has %d bytes and the keeper %d, want at most 50000000 and %d", len(text), memory, 16<<20)
	}
	if points < 5000 || points > 8000 || minute < 500 {
		t.Errorf("%d points, %d of them in the first minute, want 5000 to 8000, and 500", points, minute)
	}
	if whole := bytes.Count(text, []byte("\n")); lines < whole || lines > whole+2 {
		t.Errorf("the keeper yields %d lines, the file has %d", lines, whole)
	}
}
