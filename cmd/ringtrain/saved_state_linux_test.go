package main

import (
	"strings"
	"syscall"
	"testing"
)

// TestSavedStateReported requests a checkpoint and then stops the job by signals, with a
// checkpoint.dir and without one. It verifies that the job reports the saved state and
// its location, or that nothing is saved.
func TestSavedStateReported(t *testing.T) {
	for _, tt := range []struct {
		name, dir string
		says      []string
		silent    string
	}{
		{"dir=none", "", []string{"a checkpoint was requested but not saved: the job has no checkpoint.dir", "no state is saved: the job has no checkpoint.dir"}, "is saved in"},
		{"dir=ckpt", "ckpt", []string{"is saved in ckpt"}, "no state is saved"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newBox(t).start(append([]string{"train", "--json"}, endless("--set", "checkpoint.dir="+tt.dir)...)...)
			p.await(`"event":"step"`)
			p.signal(syscall.SIGUSR1)
			p.await(`"step":300,`) // not the next step: the signal may be delayed
			p.signal(syscall.SIGTERM)
			e := p.wait()
			if e.code != 143 {
				t.Errorf("ended with %d, want 143", e.code)
			}
			for _, says := range tt.says {
				if !strings.Contains(e.stderr, says) {
					t.Errorf("does not say %q:\n%s", says, e.stderr)
				}
			}
			if strings.Contains(e.stderr, tt.silent) {
				t.Errorf("says %q:\n%s", tt.silent, e.stderr)
			}
		})
	}
}

// TestSecondSignalReportsState stops one of two ranks by repeated SIGTERM while the other is
// suspended. It verifies that the rank reports whether its state is saved.
func TestSecondSignalReportsState(t *testing.T) {
	b := newBox(t)
	port := freePorts(t, 1)[0]
	ranks := b.startRanks(2, append([]string{"train"}, endless()...), func(rank int) []string { return rankVariables(rank, 2, port) })
	ranks[0].await("step 10 ")
	ranks[1].signal(syscall.SIGSTOP)
	eventually(t, patience, "the end of rank 0", func() bool {
		ranks[0].signal(syscall.SIGTERM)
		select {
		case <-ranks[0].ended:
			return true
		default:
			return false
		}
	})
	ranks[1].signal(syscall.SIGCONT)
	if e := ranks[0].wait(); e.code != 143 || !strings.Contains(e.stderr, "saves no state") {
		t.Errorf("rank 0 ended with %d, want 143 and that no state is saved:\n%s", e.code, e.stderr)
	}
	ranks[1].wait()
}
