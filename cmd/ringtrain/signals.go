package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"ringtrain/ring/exitcode"
)

// stopper turns SIGTERM and Ctrl-C into what training needs: before it has
// begun the first signal ends the wait, in training it asks all ranks to stop
// at one agreed step, and a second one ends the process at once.
type stopper struct {
	code     atomic.Int32
	training atomic.Bool
	cancel   context.CancelCauseFunc
}

// catchSignals returns a context that a signal before training ends.
func catchSignals(parent context.Context) (context.Context, *stopper) {
	ctx, cancel := context.WithCancelCause(parent)
	s := &stopper{cancel: cancel}
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, syscall.SIGTERM, os.Interrupt)
	go func() {
		for sig := range signals {
			s.caught(sig)
		}
	}()
	return ctx, s
}

func (s *stopper) caught(sig os.Signal) {
	code := exitcode.Terminated
	if sig == os.Interrupt {
		code = exitcode.Interrupted
	}
	if !s.code.CompareAndSwap(0, int32(code)) {
		os.Exit(code) // the second signal
	}
	if !s.training.Load() {
		s.cancel(exitcode.With(code, errors.New("stopped by a signal")))
	}
}

// stop is the exit code that a signal asked for, 0 for none.
func (s *stopper) stop() int { return int(s.code.Load()) }

// begin says that training begins: from now on signals wait for a step.
func (s *stopper) begin() { s.training.Store(true) }
