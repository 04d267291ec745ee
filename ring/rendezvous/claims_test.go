package rendezvous

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/state"
)

// The tests of this file hold the times that the README names under "When something
// breaks", on the fake clock and with nothing configured. The figures are written out:
// a test that takes them from the code would hold any.

// late fails the test unless took is what is claimed, and at most a tick more.
func wantTime(t *testing.T, what string, took, claim time.Duration) {
	t.Helper()
	if took < claim || took > claim+200*time.Millisecond {
		t.Errorf("%s: after %v, want %v", what, took, claim)
	}
}

// TestClaimedStart fails if a worker whose neighbour never comes says so at other times
// than after 2 s and then every 5 s, or waits for it other than 300 s.
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

// TestClaimedKill fails if the others are not told at once of a worker whose process
// ended, which is claimed within a second.
func TestClaimedKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		all := s.workers(3)
		var conn net.Conn
		keepConn(&all[1], &conn)
		sessions := joinAll(t, all...)
		time.Sleep(10*time.Second + state.HeartbeatEvery/2) // on the fake clock
		at := time.Now()
		conn.Close() // as the kernel does for a process that was killed
		for _, rank := range []int{0, 2} {
			wantTime(t, "the word", lostAfter(t, sessions[rank], at), 0)
		}
	})
}

// lostAfter waits for the end of a generation by the loss of rank 1.
func lostAfter(t *testing.T, s *Session, since time.Time) time.Duration {
	t.Helper()
	<-s.Context().Done()
	took := time.Since(since)
	if c, _ := errors.AsType[*ring.Cause](context.Cause(s.Context())); c == nil || c.Rank != 1 || c.ExitCode != exitcode.Retry {
		t.Errorf("rank %d is told %v, want the loss of rank 1", s.Membership().Rank, c)
	}
	return took
}

// TestClaimedSilence fails if a worker that falls silent is not lost when it was not
// heard of for 5 s.
func TestClaimedSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		all := s.workers(3)
		var conn net.Conn
		keepConn(&all[1], &conn)
		sessions := joinAll(t, all...)
		time.Sleep(10*time.Second + time.Millisecond) // on the fake clock: just after a beat
		at := time.Now()
		conn.(*pipeEnd).cut.Store(true)
		for _, rank := range []int{0, 2} {
			wantTime(t, "the loss", lostAfter(t, sessions[rank], at), 5*time.Second-200*time.Millisecond)
		}
	})
}
