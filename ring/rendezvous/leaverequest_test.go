package rendezvous

import (
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring/exitcode"
)

// TestRequestLeave verifies the answers to requests to leave. Without restarts all workers stop.
// Otherwise one worker leaves alone; all stop if all ask or if the launcher says so. All workers
// and the launcher must know the one rank that the signal was for.
func TestRequestLeave(t *testing.T) {
	tests := []struct {
		name     string
		restarts int
		asking   []int
		stopAll  bool
		all      bool // the job stops
		by       int  // the rank that the signal was for
	}{
		{"restarts=0/asking=1", 0, []int{1}, false, true, 1},
		{"restarts=0/asking=2", 0, []int{0, 2}, false, true, -1},
		{"restarts=0/launcher", 0, []int{}, true, true, -1},
		{"restarts=1/asking=1", 1, []int{1}, false, false, -1},
		{"restarts=1/asking=2", 1, []int{1, 2}, false, true, -1},
		{"restarts=2/asking=2", 2, []int{1, 2}, false, false, -1},
		{"restarts=9/asking=3", 9, []int{0, 1, 2}, false, true, -1},
		{"restarts=9/launcher", 9, []int{1}, true, true, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serveInMemory(t, ServerConfig{Restarts: tt.restarts})
				sessions := joinAll(t, s.workers(3)...)
				for _, rank := range tt.asking {
					sessions[rank].RequestLeave(exitcode.Terminated)
				}
				if tt.stopAll {
					s.StopAll(exitcode.Terminated)
				}
				time.Sleep(1500 * time.Millisecond) // on the fake clock
				for rank, m := range sessions {
					asked := false
					for _, r := range tt.asking {
						asked = asked || r == rank
					}
					stop, alone := m.Stopping(), m.Leaving()
					if tt.all != (stop == exitcode.Terminated) || alone != (asked && !tt.all) {
						t.Errorf("rank %d: stop %d, alone %t", rank, stop, alone)
					}
				}
				leaveAll(t, sessions...)
				for rank, m := range sessions {
					if by := m.StoppedBy(); by != tt.by && (by < 0 || len(tt.asking) < 2) {
						t.Errorf("rank %d: stopped by %d, want %d", rank, by, tt.by)
					}
				}
				if c := s.Stopped(); (c != nil) != tt.all || c != nil && (c.Rank != tt.by || c.ExitCode != exitcode.Terminated) {
					t.Errorf("the rendezvous says %+v, want rank %d", c, tt.by)
				}
			})
		})
	}
}

// TestLeaveRequestUnanswered verifies that a worker with a silent rendezvous asks the others to stop
// once it knows that it is not heard.
func TestLeaveRequestUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{Restarts: 1})
		all := s.workers(2)
		sessions := joinAll(t, all...)
		p := s.pathOf(sessions[0])
		p.change(func() { p.dark = true })
		sessions[0].RequestLeave(exitcode.Terminated)
		if code := sessions[0].Stopping(); code != 0 {
			t.Errorf("stop %d at once, want to wait for the rendezvous", code)
		}
		time.Sleep(3 * time.Second) // on the fake clock
		if code := sessions[0].Stopping(); code != exitcode.Terminated {
			t.Errorf("stop %d after 3 s, want 143", code)
		}
	})
}

// TestStepsAllocateNothing verifies that the calls of each training step do not allocate.
func TestStepsAllocateNothing(t *testing.T) {
	s := new(Session)
	if n := testing.AllocsPerRun(100, func() {
		s.Progress(7, "train")
		if s.Stopping() != 0 || s.Leaving() {
			t.Error("nobody has asked")
		}
	}); n != 0 {
		t.Errorf("%v allocations a step, want 0", n)
	}
}
