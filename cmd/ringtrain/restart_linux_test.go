package main

import (
	"strings"
	"syscall"
	"testing"
	"time"
)

// longDigits is a job on drawn digits that is long enough to be disturbed.
func longDigits() []string {
	return []string{
		"mnist", "--json", "--set", "input.synthetic=true", "--set", "train.steps=3000", "--set", "log.every=5",
		"--set", "checkpoint.dir=", "--set", "export.savedmodel=", "--set", "allreduce.levels=flat",
	}
}

// TestRunRestarts verifies that a job under --restarts survives one kill -9 with the
// same digest, and ends at a second loss.
func TestRunRestarts(t *testing.T) {
	want := newBox(t).must(0, append([]string{"run", "-np", "3"}, longDigits()...)...).digest(t)
	b := newBox(t)
	p := b.start(append([]string{"run", "-np", "3", "--restarts", "1"}, longDigits()...)...)
	p.await(`"event":"step"`)
	kill(t, b.rankPID(2), syscall.SIGKILL)
	e := p.wait()
	if e.code != 0 || e.digest(t) != want {
		t.Errorf("ended with %d and digest %s, want 0 and %s\n%s", e.code, e.digest(t), want, e.stderr)
	}
	if said := "rank 2 was killed by signal 9 (killed): it is started again (0 restarts left)"; strings.Count(e.stderr, said) != 1 {
		t.Errorf("%q is not said once:\n%s", said, e.stderr)
	}
	b.nothingLeft(5*time.Second, nil)
}

// TestRunRestartsUsedUp verifies that a job without remaining restarts ends and reports
// the loss that ended it.
func TestRunRestartsUsedUp(t *testing.T) {
	b := newBox(t)
	p := b.start(append([]string{"run", "-np", "3", "--restarts", "1"}, endless()...)...)
	p.await("step 20 ")
	kill(t, b.rankPID(2), syscall.SIGKILL)
	p.await("it is started again")
	p.await("[0] generation 2")
	kill(t, b.rankPID(1), syscall.SIGKILL)
	if e := p.wait(); e.code != 137 || !namesRank(e.last(), 1) {
		t.Errorf("ended with %d and %q, want 137 and rank 1 named\n%s", e.code, e.last(), e.stderr)
	}
	b.nothingLeft(5*time.Second, nil)
}

// TestRunRestartsStopped verifies that a rank stopped by SIGSTOP is killed and replaced
// under --restarts.
func TestRunRestartsStopped(t *testing.T) {
	long(t)
	t.Parallel() // it mostly waits
	want := newBox(t).must(0, append([]string{"run", "-np", "3"}, longDigits()...)...).digest(t)
	b := newBox(t)
	p := b.start(append([]string{"run", "-np", "3", "--restarts", "1", "--lease", "2s"}, longDigits()...)...)
	p.await(`"event":"step"`)
	kill(t, b.rankPID(2), syscall.SIGSTOP)
	if e := p.wait(); e.code != 0 || e.digest(t) != want {
		t.Errorf("ended with %d and digest %s, want 0 and %s\n%s", e.code, e.digest(t), want, e.stderr)
	}
	b.nothingLeft(5*time.Second, nil)
}
