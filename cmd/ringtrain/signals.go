package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch"
)

// stopper turns signals into what training needs.
//
//	SIGTERM, Ctrl-C   before training, and between two generations: end the wait;
//	                  in training: leave at a step that all ranks agree on, alone or
//	                  with all others; the second one ends the process at once
//	SIGUSR1           write a checkpoint after the coming step
//	SIGQUIT           print what this rank does and waits for, and all goroutines
type stopper struct {
	code       atomic.Int32
	checkpoint atomic.Bool
	cancel     context.CancelCauseFunc

	mu    sync.Mutex   // guards what follows
	team  *launch.Team // nil while there is none to ask
	step  int64
	phase string
}

// catchSignals returns a context that a signal ends while no team trains.
func catchSignals(parent context.Context) (context.Context, *stopper) {
	ctx, cancel := context.WithCancelCause(parent)
	s := &stopper{cancel: cancel, step: -1, phase: "start"}
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
		os.Exit(code) // the second signal
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.team == nil {
		s.cancel(exitcode.With(code, errors.New("stopped by a signal")))
		return
	}
	s.team.AskLeave(code)
}

// train says that team begins to train: from now on signals wait for a step.
func (s *stopper) train(team *launch.Team) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.team = team
	if code := s.code.Load(); code != 0 {
		team.AskLeave(int(code))
	}
}

// wait says that the team has ended, and the next one is awaited: nobody can agree
// on a step.
func (s *stopper) wait() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.team = nil
	if code := s.code.Load(); code != 0 {
		s.cancel(exitcode.With(int(code), errors.New("stopped by a signal")))
	}
}

// current is the team that trains, or nil.
func (s *stopper) current() *launch.Team {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.team
}

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
