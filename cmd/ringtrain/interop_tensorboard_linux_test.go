package main

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"syscall"
	"testing"

	"ringtrain/export/savedmodel/interop"
)

// TestInteropTensorBoard verifies the curves of a job that is killed and resumed, and
// then loses and replaces rank 0, in both loaders of TensorBoard. A curve has each step
// once, reaches the last step, and has the values of the job's events. Each kill may
// lose the events of the last 200 ms.
func TestInteropTensorBoard(t *testing.T) {
	python := interop.Python(t)
	b := newBox(t)
	job := steadyDigits("--set", "train.steps=12000", "--set", "summary.dir=curves", "--set", "checkpoint.every=1000", "--set", "eval.every=3000")
	p := b.start(append([]string{"run", "-np", "2"}, job...)...)
	p.await("step 4000 of 12000")
	kill(t, b.rankPID(0), syscall.SIGKILL)
	if e := p.wait(); e.code != 137 {
		t.Fatalf("the launcher ended with %d, want 137\n%s", e.code, e.stderr)
	}
	p = b.start(append([]string{"run", "-np", "2", "--restarts", "1"}, job...)...)
	p.await("step 7000 of 12000")
	kill(t, b.rankPID(0), syscall.SIGKILL)
	e := p.wait()
	if e.code != 0 {
		t.Fatalf("the launcher ended with %d, want 0\n%s", e.code, e.stderr)
	}
	if files := b.files(); len(files) < 3 {
		t.Fatalf("files %v, want three of events", files)
	}
	script, err := filepath.Abs(filepath.Join("..", "..", "export", "events", "interop", "check_events.py"))
	if err != nil {
		t.Fatal(err)
	}
	var report event
	read := b.startProgram(python, script, b.path("curves")).wait()
	if err := json.Unmarshal([]byte(read.stdout), &report); err != nil || read.code != 0 {
		t.Fatalf("%s ended with %d\n%s%s", script, read.code, read.stdout, read.stderr)
	}
	for _, loader := range []string{"python", "page"} {
		curves := report.sub(loader)
		checkCurve(t, loader, curves.list("train/loss"), 20, 12000)
		checkCurve(t, loader, curves.list("train/learning_rate"), 20, 12000)
		checkCurve(t, loader, curves.list("eval/accuracy"), 3000, 12000)
		last := curves.list("eval/accuracy")
		got := last[len(last)-1].([]any)[1].(float64)
		if want := e.only(t, "done").sub("eval").num("accuracy"); math.Abs(got-want) > 1e-6 {
			t.Errorf("%s: accuracy %v at the end, want %v", loader, got, want)
		}
	}
	if got, want := fmt.Sprint(report.sub("page")), fmt.Sprint(report.sub("python")); got != want {
		t.Errorf("the page shows\n%s\nwant, as the loader in Python,\n%s", got, want)
	}
}

// checkCurve verifies that a curve has each multiple of every up to last once, except
// for a few that kills may have lost.
func checkCurve(t *testing.T, loader string, curve []any, every, last float64) {
	t.Helper()
	before := 0.0
	for _, p := range curve {
		step := p.([]any)[0].(float64)
		if step <= before || math.Mod(step, every) != 0 {
			t.Errorf("%s: step %v after %v, want a later multiple of %v", loader, step, before, every)
		}
		before = step
	}
	if want := int(last / every); before != last || len(curve) <= want/2 {
		t.Errorf("%s: %d points up to step %v, want %d up to %v", loader, len(curve), before, want, last)
	}
}
