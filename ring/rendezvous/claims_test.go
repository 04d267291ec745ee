package rendezvous

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/state"
)

// The tests of this file hold the times that the manual states under "When something breaks", with
// the default settings and on the fake clock. The figures are literals: a test that took them from
// the code would accept any.

// wantTime fails the test unless took is the claimed time, or at most a tick more.
func wantTime(t *testing.T, what string, took, claim time.Duration) {
	t.Helper()
	if took < claim || took > claim+200*time.Millisecond {
		t.Errorf("%s: after %v, want %v", what, took, claim)
	}
}

// TestClaimedStart verifies that a worker reports a missing neighbour after 2 s and then every 5 s,
// and gives up after 300 s.
func TestClaimedStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, began := serveInMemory(t, ServerConfig{}), time.Now()
		o := s.worker(0, 2)
		o.StartTimeout = 0
		var told []time.Duration
		o.Waiting = func(state.Waiting) { told = append(told, time.Since(began)) }
		_, err := Join(t.Context(), o)
		wantTime(t, "the end", time.Since(began), 300*time.Second)
		if exitcode.Of(err) != exitcode.Retry {
			t.Errorf("error %v with code %d, want exitcode.Retry", err, exitcode.Of(err))
		}
		if len(told) != 60 {
			t.Fatalf("told %d times, want 60", len(told))
		}
		for i, at := range told {
			wantTime(t, "a line", at, 2*time.Second+time.Duration(i)*5*time.Second)
		}
	})
}

// TestClaimedKill verifies that the others hear within half a second of a worker whose process has
// ended. The manual claims a second.
func TestClaimedKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		all := s.workers(3)
		sessions := joinAll(t, all...)
		time.Sleep(10*time.Second + state.HeartbeatEvery/2) // on the fake clock
		at := time.Now()
		s.pathOf(sessions[1]).kill() // as the kernel does for a killed process
		for _, rank := range []int{0, 2} {
			if took := lostAfter(t, sessions[rank], at); took > 600*time.Millisecond {
				t.Errorf("rank %d: the loss after %v, want 0.6 s at most", rank, took)
			}
		}
	})
}

// lostAfter waits until the loss of rank 1 ends the generation.
func lostAfter(t *testing.T, s *Session, since time.Time) time.Duration {
	t.Helper()
	<-s.Context().Done()
	took := time.Since(since)
	if c, _ := errors.AsType[*ring.Cause](context.Cause(s.Context())); c == nil || c.Rank != 1 || c.ExitCode != exitcode.Retry {
		t.Errorf("rank %d is told %v, want the loss of rank 1", s.Membership().Rank, c)
	}
	return took
}

// TestClaimedSilence verifies that a silent worker is lost 5 s after its last heartbeat, which may
// have come up to a heartbeat's interval before the cut.
func TestClaimedSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		all := s.workers(3)
		sessions := joinAll(t, all...)
		time.Sleep(10 * time.Second)
		at := time.Now()
		p := s.pathOf(sessions[1])
		p.change(func() { p.dark = true })
		for _, rank := range []int{0, 2} {
			took := lostAfter(t, sessions[rank], at)
			if least, most := 5*time.Second-2*state.HeartbeatEvery-200*time.Millisecond, 5*time.Second+200*time.Millisecond; took < least || took > most {
				t.Errorf("rank %d: the loss after %v, want %v to %v", rank, took, least, most)
			}
		}
	})
}
