package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/join"
	"ringtrain/ring/launch"
)

// stopper turns signals into what training needs.
//
//	SIGTERM, Ctrl-C   before training: end the wait; in training: leave at a step that
//	                  all ranks agree on, alone or with all others; between two
//	                  generations: leave so in the next one, if it begins soon; after
//	                  the last one: nothing; a second one ends the process at once
//	SIGUSR1           write a checkpoint after the coming step
//	SIGUSR2           nothing: Go's runtime passes over it
//	SIGQUIT           print what this rank does and waits for, and all goroutines
type stopper struct {
	code       atomic.Int32
	checkpoint atomic.Bool
	cancel     context.CancelCauseFunc
	people     io.Writer
	since      time.Time // when the first one came that asks to end; of caught

	mu    sync.Mutex  // guards what follows
	team  *join.Team  // nil while there is none to ask
	next  bool        // there was one, and another is awaited
	over  bool        // there was one, and none follows
	late  *time.Timer // ends the wait for the next one; nil: a signal has not yet come
	step  int64
	phase string
}

// nextTime is how long a rank that was told to end between two generations waits for
// the next. The others have its state there, and lose no step by its going. Many who
// send the signal kill after 10 s.
const nextTime = 5 * time.Second

// sameTime is how long after a signal another one is taken for the same.
const sameTime = launch.SameTime

// catchSignals returns a context that a signal ends while no team trains.
func catchSignals(parent context.Context) (context.Context, *stopper) {
	ctx, cancel := context.WithCancelCause(parent)
	s := &stopper{cancel: cancel, people: os.Stderr, step: -1, phase: "start"}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt, syscall.SIGUSR1, syscall.SIGQUIT)
	go func() {
		for sig := range signals {
			s.caught(sig)
		}
	}()
	return ctx, s
}

func (s *stopper) caught(sig os.Signal) {
	switch sig {
	case syscall.SIGUSR1:
		s.checkpoint.Store(true)
	case syscall.SIGQUIT:
		s.dump()
	case os.Interrupt:
		s.end(exitcode.Interrupted)
	default:
		s.end(exitcode.Terminated)
	}
}

func (s *stopper) end(code int) {
	if !s.code.CompareAndSwap(0, int32(code)) {
		if time.Since(s.since) >= sameTime {
			fmt.Fprintln(s.people, "a second signal: this rank ends at once and saves no state")
			os.Exit(code)
		}
		return
	}
	s.since = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.team != nil:
		s.team.RequestLeave(code)
	case s.next:
		s.expectNext(code)
	case s.over: // it ends by itself, and its last word is why
	default:
		s.cancel(exitcode.With(code, errors.New("stopped by a signal")))
	}
}

// expectNext leaves in the next generation, or, if that does not begin in time, as it
// stands. It is called with s.mu held.
func (s *stopper) expectNext(code int) {
	fmt.Fprintf(s.people, "told to end between two generations: this rank leaves in the next one, if that begins within %v\n", nextTime)
	s.late = time.AfterFunc(nextTime, func() {
		s.cancel(exitcode.With(code, fmt.Errorf("stopped by a signal between two generations; the next one has not begun in %v, and this rank saved no state", nextTime)))
	})
}

// train says that team begins to train: from now on signals wait for a step.
func (s *stopper) train(team *join.Team) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.team, s.next = team, false
	if s.late != nil {
		s.late.Stop()
	}
	if code := s.code.Load(); code != 0 {
		team.RequestLeave(int(code))
	}
}

// wait says that the team has ended, and, if there can be one, the next is awaited:
// nobody can agree on a step before.
func (s *stopper) wait(next bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.team, s.next, s.over = nil, next, !next
	if code := s.code.Load(); code != 0 && next {
		s.expectNext(int(code))
	}
}

// current is the team that trains, or nil.
func (s *stopper) current() *join.Team {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.team
}

// told tells whether a signal has told this rank to end.
func (s *stopper) told() bool { return s.code.Load() != 0 }

// stop is the exit code that all ranks are to stop with, 0 for none.
func (s *stopper) stop() int {
	if t := s.current(); t != nil {
		return t.Stopping()
	}
	return 0
}

// depart tells whether this rank is to leave alone.
func (s *stopper) depart() bool {
	t := s.current()
	return t != nil && t.Departing()
}

// wantsCheckpoint tells once for each SIGUSR1 that it came.
func (s *stopper) wantsCheckpoint() bool { return s.checkpoint.Load() && s.checkpoint.Swap(false) }

// progress is told how far training is, and tells the team.
func (s *stopper) progress(step int64, phase string) {
	s.mu.Lock()
	s.step, s.phase = step, phase
	t := s.team
	s.mu.Unlock()
	if t != nil {
		t.Progress(step, phase)
	}
}

// dump prints where this rank is, and its goroutines.
func (s *stopper) dump() {
	var b bytes.Buffer
	s.mu.Lock()
	fmt.Fprintf(&b, "step %d, %s", s.step, s.phase)
	t := s.team
	s.mu.Unlock()
	if t != nil {
		b.WriteString(waitLine(t.Group))
	}
	b.WriteString("\n")
	pprof.Lookup("goroutine").WriteTo(&b, 2)
	os.Stderr.Write(b.Bytes())
}

// waitLine tells what a rank's operation waits for.
func waitLine(g *ring.Group) string {
	m := g.Membership()
	head := fmt.Sprintf(", rank %d of %d in generation %d", m.Rank, m.Size(), m.Generation)
	w := g.Waiting()
	if w.Peer < 0 {
		return head + ", waits for nobody"
	}
	return fmt.Sprintf("%s, %s %d waits for rank %d since %v", head, w.Operation, w.Seq, w.Peer, time.Since(w.Since).Round(time.Millisecond))
}
