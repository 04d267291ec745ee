package main

import (
	"strings"
	"syscall"
	"testing"
)

// TestUserSignal verifies that programs receive the launcher's SIGUSR2, and that
// ranks of ringtrain complete their training.
func TestUserSignal(t *testing.T) {
	t.Parallel()
	t.Run("rank=program", func(t *testing.T) {
		t.Parallel()
		p := newBox(t).start("run", "-np", "2", "sh", "-c", `trap 'echo caught; exit 0' USR2; echo ready; for i in $(seq 100); do sleep 0.05; done`)
		p.await("[0] ready")
		p.await("[1] ready")
		p.signal(syscall.SIGUSR2)
		if e := p.wait(); e.code != 0 || strings.Count(e.stdout, "caught") != 2 {
			t.Errorf("ended with %d, want 0 and two ranks that caught the signal\n%s%s", e.code, e.stdout, e.stderr)
		}
	})
	t.Run("rank=ringtrain", func(t *testing.T) {
		t.Parallel()
		b := newBox(t)
		p := b.start(append([]string{"run", "-np", "2"}, endless()...)...)
		p.await("step 20 ")
		p.signal(syscall.SIGUSR2)
		kill(t, b.rankPID(1), syscall.SIGUSR2)
		before := strings.Count(p.stdout.String(), "step ")
		eventually(t, patience, "training goes on", func() bool { return strings.Count(p.stdout.String(), "step ") > before+2 })
		p.signal(syscall.SIGTERM)
		if e := p.wait(); e.code != 143 {
			t.Errorf("ended with %d and %q, want 143", e.code, e.last())
		}
	})
}
