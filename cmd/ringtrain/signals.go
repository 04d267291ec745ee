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
//	SIGTERM, Ctrl-C   before training, and between two generations: end the wait; in
//	                  training: ask the rendezvous whether all stop at a step that they
//	                  agree on, or this rank leaves alone; after the last generation:
//	                  nothing; a second one ends the process at once
//	SIGUSR1           write a checkpoint after the coming step
//	SIGUSR2           nothing: Go's runtime passes over it
//	SIGQUIT           print what this rank does and waits for, and all goroutines
type stopper struct {
	code        atomic.Int32
	checkpoint  atomic.Bool
	cancel      context.CancelCauseFunc // ends the wait for a generation
	stop, leave notice
	people      io.Writer
	since       time.Time // time of the first signal to end; used by handle only

	mu    sync.Mutex // guards the fields below
	team  *join.Team // nil while no team trains
	over  func()     // ends the watch of team
	ended bool       // a team has ended, and no generation follows
	step  int64
	phase string
}

// notice is a context that ends when a signal is to be followed, with its exit code.
type notice struct {
	context.Context
	cancel context.CancelCauseFunc
}

func newNotice() (n notice) {
	n.Context, n.cancel = context.WithCancelCause(context.Background())
	return n
}

// answerEvery is the time between two looks for the answer to a signal.
const answerEvery = 50 * time.Millisecond

func stoppedBySignal(code int) error { return exitcode.With(code, errors.New("stopped by a signal")) }

// duplicateSignalTime is the time after a signal within which another one counts as the
// same.
const duplicateSignalTime = launch.SameTime

func newStopper(cancel context.CancelCauseFunc, people io.Writer) *stopper {
	return &stopper{cancel: cancel, stop: newNotice(), leave: newNotice(), people: people, step: -1, phase: "start"}
}

// catchSignals returns a context that a signal cancels while no team trains. people receives lines
// about signals.
func catchSignals(parent context.Context, people io.Writer) (context.Context, *stopper) {
	ctx, cancel := context.WithCancelCause(parent)
	s := newStopper(cancel, people)
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
	case s.ended: // the process is ending by itself and reports its own reason
	default:
		s.cancel(stoppedBySignal(code))
	}
}

// startTeam sets the team that begins to train: from now on signals wait for an answer.
func (s *stopper) startTeam(team *join.Team) {
	s.mu.Lock()
	defer s.mu.Unlock()
	over := make(chan struct{})
	s.team, s.over = team, func() { close(over) }
	if code := s.code.Load(); code != 0 {
		team.RequestLeave(int(code))
	}
	go s.watch(team, over)
}

// watch looks for the answer to a signal here or at another rank, until over is closed.
func (s *stopper) watch(team *join.Team, over <-chan struct{}) {
	tick := time.NewTicker(answerEvery)
	defer tick.Stop()
	for {
		if code := team.Stopping(); code != 0 {
			s.stop.cancel(stoppedBySignal(code))
			return
		}
		if team.Leaving() {
			s.leave.cancel(stoppedBySignal(int(s.code.Load())))
			return
		}
		select {
		case <-over:
			return
		case <-tick.C:
		}
	}
}

// endTeam reports the end of the team. next reports whether another generation may
// follow. Until then the ranks cannot agree on a step.
func (s *stopper) endTeam(next bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.team != nil {
		s.over()
	}
	s.team, s.ended = nil, !next
	if code := s.code.Load(); code != 0 && next {
		s.cancel(stoppedBySignal(int(code)))
	}
}

// told returns the exit code of the signal that ends this rank, 0 for none.
func (s *stopper) told() int {
	for _, n := range []notice{s.stop, s.leave} {
		if n.Err() != nil {
			return exitcode.Of(context.Cause(n))
		}
	}
	return int(s.code.Load())
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
