package main

import (
	"slices"
	"syscall"
	"testing"

	"ringtrain/export/history"
	"ringtrain/model/train/report"
)

// endsOf returns the exit codes of the errors of a history.
func endsOf(t *testing.T, dir string) (codes []int) {
	t.Helper()
	run, err := history.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range run.Events {
		if e, ok := s.Event.(report.Failure); ok {
			codes = append(codes, e.ExitCode)
		}
	}
	return codes
}

// TestHistoryHasTheEnd verifies that the history of a job has its error once: that of the
// launcher, which knows the exit code of a rank that was killed; also after a resume, and of a job that does not begin.
func TestHistoryHasTheEnd(t *testing.T) {
	b := newBox(t)
	killed := func(victim int) {
		p := b.start(append([]string{"run", "-np", "2"}, endless("--set", "checkpoint.dir=ckpt")...)...)
		p.await("step 20 ")
		kill(t, b.rankPID(victim), syscall.SIGKILL)
		p.wait()
	}
	for _, want := range [][]int{{137}, {137, 137}, {137, 137, 143}, {137, 137, 143, 64}} {
		switch len(want) {
		case 1:
			killed(0)
		case 2:
			killed(1)
		case 4:
			b.must(want[3], append([]string{"run", "-np", "2"}, endless("--set", "checkpoint.dir=ckpt", "--set", "model.kind=mlp")...)...)
		default:
			p := b.start(append([]string{"run", "-np", "2"}, endless("--set", "checkpoint.dir=ckpt")...)...)
			p.await("resumed at step")
			p.signal(syscall.SIGTERM)
			p.wait()
		}
		if got := endsOf(t, b.path("ckpt")); !slices.Equal(got, want) {
			t.Errorf("the history has the ends %v, want %v", got, want)
		}
	}
}
