package rendezvous

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/state"
)

// nextAll takes sessions to the next generation, together with fresh workers.
func nextAll(t *testing.T, sessions []*Session, fresh ...Options) []*Session {
	t.Helper()
	var wg sync.WaitGroup
	for _, s := range sessions {
		wg.Go(func() {
			if err := s.Outcome(t.Context(), nil); err != nil {
				t.Errorf("rank %d: %v", s.Membership().Rank, err)
				return
			}
			if err := s.Next(t.Context()); err != nil {
				t.Errorf("next: %v", err)
			}
		})
	}
	all := append(slices.Clone(sessions), joinAll(t, fresh...)...)
	wg.Wait()
	if t.Failed() {
		t.FailNow()
	}
	return all
}

// successor returns the options of another process of a rank.
func (s *testServer) successor(rank, size int) Options {
	return s.process(s.worker(rank, size), uint64(rank+1002))
}

// TestNextGeneration verifies that the others hear at once of a killed worker, enter the next
// generation with its successor, and hear the same cause, twice in a row.
func TestNextGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{Restarts: 2})
		sessions := joinAll(t, s.workers(3)...)
		for generation := uint64(2); generation <= 3; generation++ {
			sessions[0].Progress(int64(generation), "train")
			victim, rest := sessions[1], []*Session{sessions[0], sessions[2]}
			victim.Close()
			for _, m := range rest {
				<-m.Context().Done()
				err := context.Cause(m.Context())
				if c, _ := errors.AsType[*ring.Cause](err); !errors.Is(err, ring.ErrGenerationEnded) || c == nil || c.Rank != 1 {
					t.Fatalf("the generation ended by %v, want the loss of rank 1", err)
				}
			}
			o := s.process(s.worker(1, 3), 1000+generation)
			all := nextAll(t, rest, o)
			sessions = []*Session{all[0], all[2], all[1]}
			for rank, m := range sessions {
				lost, why := m.Lost()
				ms := m.Membership()
				if ms.Generation != generation || ms.Rank != rank || ms.Workers[1].Incarnation != o.Self.Incarnation {
					t.Errorf("rank %d has %+v", rank, ms)
				}
				if !slices.Equal(lost, []int{1}) || why == nil || why.Rank != 1 || m.Context().Err() != nil {
					t.Errorf("rank %d: lost %v by %v", rank, lost, why)
				}
			}
		}
		leaveAll(t, sessions...)
	})
}

// TestNoNextGeneration verifies that without restarts the end of the generation ends the job, with
// the first cause and its exit code.
func TestNoNextGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		sessions := joinAll(t, s.workers(2)...)
		sessions[1].Close()
		<-sessions[0].Context().Done()
		mine := &ring.Cause{Rank: 1, Text: "peer 1 closed the link", ExitCode: exitcode.Retry}
		err := sessions[0].Outcome(t.Context(), mine)
		if c, _ := errors.AsType[*ring.Cause](err); c == nil || !strings.Contains(c.Text, "lost rank 1") || exitcode.Of(err) != exitcode.Retry {
			t.Errorf("error %v with code %d, want the loss of rank 1 with 138", err, exitcode.Of(err))
		}
	})
}

// TestPermanentFault verifies that a fault that no restart can mend ends the job although restarts
// are left.
func TestPermanentFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{Restarts: 9})
		sessions := joinAll(t, s.workers(2)...)
		mine := &ring.Cause{Rank: 1, Step: 3, Text: "loss is NaN", ExitCode: exitcode.NotFinite}
		for _, m := range []*Session{sessions[1], sessions[0]} {
			err := m.Outcome(t.Context(), mine)
			if c, _ := errors.AsType[*ring.Cause](err); c == nil || c.Text != mine.Text || exitcode.Of(err) != exitcode.NotFinite {
				t.Errorf("error %v with code %d, want its own fault with 80", err, exitcode.Of(err))
			}
		}
	})
}

// TestSuccessorDoesNotCome verifies that the others wait for a lost rank for the start timeout,
// report the missing rank meanwhile, and end with the cause of its loss.
func TestSuccessorDoesNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{Restarts: 1, StartTimeout: 20 * time.Second})
		all := s.workers(2)
		var lines []string
		all[0].Waiting = func(w state.Waiting) { lines = append(lines, w.String()) }
		sessions := joinAll(t, all...)
		sessions[1].Close()
		<-sessions[0].Context().Done()
		lines = nil
		start := time.Now()
		if err := sessions[0].Outcome(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		err := sessions[0].Next(t.Context())
		c, _ := errors.AsType[*ring.Cause](err)
		if c == nil || !strings.HasPrefix(c.Text, "rank 1 did not return in 20 s: lost rank 1 (") || exitcode.Of(err) != exitcode.Retry {
			t.Errorf("error %v with code %d", err, exitcode.Of(err))
		}
		if took := time.Since(start); took < 20*time.Second || took > 21*time.Second {
			t.Errorf("it took %v, want 20 s", took)
		}
		if len(lines) != 4 || !strings.HasPrefix(lines[0], "1 of 2 present; missing 1 (lost rank 1 (") {
			t.Errorf("%d lines, want 4 that name rank 1: %q", len(lines), lines)
		}
	})
}

// TestNextIsCanceled verifies that a wait for the next generation ends with its context.
func TestNextIsCanceled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{Restarts: 1})
		sessions := joinAll(t, s.workers(2)...)
		sessions[1].Close()
		if err := sessions[0].Outcome(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		stop := errors.New("told to stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { cancel(stop) })
		if err := sessions[0].Next(ctx); !errors.Is(err, stop) {
			t.Errorf("error %v, want %v", err, stop)
		}
	})
}

// TestSupersededWorker verifies that a worker whose messages are lost without an error is told that
// its rank has a successor.
func TestSupersededWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{Restarts: 1, Lease: 30 * time.Second})
		all := s.workers(2)
		sessions := joinAll(t, all...)
		p := s.pathOf(sessions[1])
		p.change(func() { p.mute = true })
		<-sessions[0].Context().Done()
		next := nextAll(t, sessions[:1], s.successor(1, 2))
		<-sessions[1].Context().Done()
		if c, _ := errors.AsType[*ring.Cause](context.Cause(sessions[1].Context())); c == nil || !strings.Contains(c.Text, "superseded") {
			t.Errorf("the first ends by %v, want that it is superseded", c)
		}
		leaveAll(t, next...)
	})
}

// TestSilenceIsTold verifies that with a long lease a silent worker is named to rank 0 and to the
// owner every ten seconds, long before its loss (R3).
func TestSilenceIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var owner, rank0 notices
		s := serveInMemory(t, ServerConfig{Lease: 60 * time.Second, Notice: owner.add})
		all := s.workers(3)
		all[0].Notice = rank0.add
		sessions := joinAll(t, all...)
		sessions[2].Progress(7, "train")
		time.Sleep(1500 * time.Millisecond) // on the fake clock, for a heartbeat
		p := s.pathOf(sessions[2])
		p.change(func() { p.dark = true })
		<-sessions[0].Context().Done()
		synctest.Wait() // until all notices have arrived
		const want = "rank 2 (host2 10.0.0.2:4000) is silent for 10 s, last heard at step 7 in train; it counts as lost after 1m0s"
		if len(owner.all) != 5 || owner.all[0] != want || !slices.Equal(owner.all, rank0.all) {
			t.Errorf("the owner is told %q,\nrank 0 %q,\nwant 5 times as in %q", owner.all, rank0.all, want)
		}
	})
}
