package main

import (
	"fmt"
	"math/rand/v2"
	"syscall"
	"testing"
)

// TestSavedAtKill kills a rank other than 0 by -9 at a random step of a job without restarts whose
// checkpoints are due at the end only. It verifies that rank 0 saves a checkpoint of at most one step
// before the loss, and that a new start ends with the digest of a run without a kill.
func TestSavedAtKill(t *testing.T) {
	kills, steps := 10, 6000
	if short(t) {
		kills, steps = 2, 1500
	}
	job := func(more ...string) []string {
		return append([]string{
			"run", "-np", "3", "--json", "mnist", "--set", "input.synthetic=true", "--set", fmt.Sprint("train.steps=", steps), "--set", "log.every=1",
			"--set", "checkpoint.dir=ckpt", "--set", "checkpoint.every=0", "--set", "export.savedmodel=",
		}, more...)
	}
	want := newBox(t).must(0, job()...).digest(t)
	for seed := range uint64(kills) {
		r := rand.New(rand.NewPCG(seed, 0))
		victim, at := 1+r.IntN(2), 1+r.IntN(steps/2)
		t.Run(fmt.Sprintf("seed=%d/rank=%d/step=%d", seed, victim, at), func(t *testing.T) {
			b := newBox(t)
			p := b.start(job()...)
			p.await(fmt.Sprintf(`"step":%d,`, at))
			kill(t, b.rankPID(victim), syscall.SIGKILL)
			e := p.wait()
			lost := int64(e.only(t, "error").num("step"))
			if steps := e.ofKind(t, "step"); len(steps) > 0 {
				lost = max(lost, int64(steps[len(steps)-1].num("step")))
			}
			saved := int64(e.only(t, "checkpoint").num("step"))
			if e.code != 137 || saved < int64(at) || saved < lost-1 || saved > lost+1 {
				t.Errorf("ended with %d, lost at step %d, saved step %d", e.code, lost, saved)
			}
			if got := b.must(0, job("--resume", "must")...).digest(t); got != want {
				t.Errorf("resumed at step %d the digest is %s, want %s", saved, got, want)
			}
		})
	}
}
