package main

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestRendezvousAlone verifies that a separate rendezvous ends with its job, with the
// same cause as the workers. If it ends before, the workers train on, and after a signal to
// one of them they agree on a step without it.
func TestRendezvousAlone(t *testing.T) {
	tests := []struct {
		name                string
		victim              int // worker to end, or -1 for the rendezvous
		signal              syscall.Signal
		rendezvous, workers int
		last                string // code of a worker that is not the victim
	}{
		{"worker killed", 1, syscall.SIGKILL, 138, 138, "rank "},
		{"worker stopped", 1, syscall.SIGTERM, 0, 143, "digest="},
		{"rendezvous killed", -1, syscall.SIGKILL, -1, 143, "digest="},
		{"rendezvous stopped", -1, syscall.SIGTERM, 143, 143, "digest="},
	}
	for _, tt := range tests {
		t.Run("end="+tt.name, func(t *testing.T) {
			b := newBox(t)
			at := "127.0.0.1:" + strconv.Itoa(freePorts(t, 1)[0])
			meeting := b.start("rendezvous", "--listen", at, "--world-size", "2")
			meeting.await("rendezvous on " + at)
			args := append([]string{"train", "--rendezvous", at, "--world-size", "2"}, endless("--json")...)
			workers := b.startRanks(2, args, func(int) []string { return nil })
			eventually(t, patience, "a worker trains", func() bool {
				return strings.Contains(fmt.Sprint(workers[0].stdout, workers[1].stdout), `"event":"step"`)
			})
			victim := meeting
			if tt.victim >= 0 {
				victim = workers[tt.victim]
			}
			victim.signal(tt.signal)
			if e := meeting.wait(); e.code != tt.rendezvous {
				t.Errorf("the rendezvous ended with %d, want %d\n%s", e.code, tt.rendezvous, e.stderr)
			}
			if victim == meeting { // the workers train on; a signal to one of them stops both
				workers[1].await("training goes on")
				workers[1].signal(syscall.SIGTERM)
			}
			for i, w := range workers {
				e := w.wait()
				if w != victim && (e.code != tt.workers || !strings.Contains(e.last(), tt.last)) {
					t.Errorf("worker %d ended with %d and %q, want %d and %q", i, e.code, e.last(), tt.workers, tt.last)
				}
			}
		})
	}
}

// TestRendezvousToken verifies that a rendezvous beyond loopback requires a token.
func TestRendezvousToken(t *testing.T) {
	if e := newBox(t).must(77, "rendezvous", "--listen", "0.0.0.0:0"); !strings.Contains(e.last(), "--insecure") {
		t.Errorf("last line %q, want what to add", e.last())
	}
}
