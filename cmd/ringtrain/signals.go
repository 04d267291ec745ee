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

	"ringtrain/cmd/ringtrain/show"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/join"
	"ringtrain/ring/launch"
)

// stopper translates signals into requests to the training job.
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
	since      time.Time // time of the first signal to end; used by handle only

	mu         sync.Mutex  // guards the fields below
	team       *join.Team  // nil while no team trains
	awaitsNext bool        // a team has ended, and the next generation is expected
	ended      bool        // a team has ended, and no generation follows
	nextTimer  *time.Timer // ends the wait for the next generation; nil before a signal
	step       int64
	phase      string
}

// nextGenerationTimeout is the time that a rank told to end between two generations
// waits for the next one. In the next generation the other ranks have its state, so they
// lose no step. Many senders of the signal kill the process after 10 s.
const nextGenerationTimeout = 5 * time.Second

// duplicateSignalTime is the time after a signal within which another one counts as the
// same.
const duplicateSignalTime = launch.SameTime

// catchSignals returns a context that a signal cancels while no team trains. people receives lines
// about signals.
func catchSignals(parent context.Context, people io.Writer) (context.Context, *stopper) {
	ctx, cancel := context.WithCancelCause(parent)
	s := &stopper{cancel: cancel, people: people, step: -1, phase: "start"}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt, syscall.SIGUSR1, syscall.SIGQUIT)
	go func() {
		for sig := range signals {
			s.handle(sig)
		}
	}()
	return ctx, s
}

func (s *stopper) handle(sig os.Signal) {
	switch sig {
	case syscall.SIGUSR1:
		s.checkpoint.Store(true)
	case syscall.SIGQUIT:
		s.dump()
	case os.Interrupt:
		s.end(exitcode.Interrupted)
	case syscall.SIGTERM:
		s.end(exitcode.Terminated)
	}
}

func (s *stopper) end(code int) {
	if !s.code.CompareAndSwap(0, int32(code)) {
		if time.Since(s.since) >= duplicateSignalTime {
			show.Bound(func() { fmt.Fprintln(s.people, "a second signal: this rank ends at once and saves no state") })
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
	case s.awaitsNext:
		s.waitForNext(code)
	case s.ended: // the process is ending by itself and reports its own reason
	default:
		s.cancel(exitcode.With(code, errors.New("stopped by a signal")))
	}
}

// waitForNext waits for the next generation, in which this rank leaves. If that does not
// begin in time, the process ends without it. The caller holds s.mu.
func (s *stopper) waitForNext(code int) {
	fmt.Fprintf(s.people, "told to end between two generations: this rank leaves in the next one, if that begins within %v\n", nextGenerationTimeout)
	s.nextTimer = time.AfterFunc(nextGenerationTimeout, func() {
		s.cancel(exitcode.With(code, fmt.Errorf("stopped by a signal between two generations; the next one has not begun in %v", nextGenerationTimeout)))
	})
}

// startTeam sets the team that begins to train: from now on signals wait for a step.
func (s *stopper) startTeam(team *join.Team) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.team, s.awaitsNext = team, false
	if s.nextTimer != nil {
		s.nextTimer.Stop()
	}
	if code := s.code.Load(); code != 0 {
		team.RequestLeave(int(code))
	}
}

// endTeam reports the end of the team. next reports whether another generation may
// follow. Until then the ranks cannot agree on a step.
func (s *stopper) endTeam(next bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.team, s.awaitsNext, s.ended = nil, next, !next
	if code := s.code.Load(); code != 0 && next {
		s.waitForNext(int(code))
	}
}

// current returns the team that trains, or nil.
func (s *stopper) current() *join.Team {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.team
}

// signalled reports whether a signal has told this rank to end.
func (s *stopper) signalled() bool { return s.code.Load() != 0 }

// stop returns the exit code with which all ranks must stop, 0 for none.
func (s *stopper) stop() int {
	if t := s.current(); t != nil {
		return t.Stopping()
	}
	return 0
}

// depart reports whether this rank must leave alone.
func (s *stopper) depart() bool {
	t := s.current()
	return t != nil && t.Leaving()
}

// wantsCheckpoint reports, once for each SIGUSR1, that a checkpoint is requested.
func (s *stopper) wantsCheckpoint() bool { return s.checkpoint.Load() && s.checkpoint.Swap(false) }

// progress records the step and phase of training and passes them to the team.
func (s *stopper) progress(step int64, phase string) {
	s.mu.Lock()
	s.step, s.phase = step, phase
	t := s.team
	s.mu.Unlock()
	if t != nil {
		t.Progress(step, phase)
	}
}

// dump prints the state of this rank and its goroutines.
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
	s.people.Write(b.Bytes())
}

// waitLine describes what a rank's operation waits for.
func waitLine(g *ring.Group) string {
	m := g.Membership()
	head := fmt.Sprintf(", rank %d of %d in generation %d", m.Rank, m.Size(), m.Generation)
	w := g.Waiting()
	if w.Peer < 0 {
		return head + ", waits for nobody"
	}
	return fmt.Sprintf("%s, %s %d waits for rank %d since %v", head, w.Operation, w.Seq, w.Peer, time.Since(w.Since).Round(time.Millisecond))
}
