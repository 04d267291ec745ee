package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous"
)

// watchEvery is the time between two looks.
const watchEvery = time.Second

// looker is what a watcher needs of a rendezvous.StatusClient.
type looker interface {
	Next(context.Context) ([]rendezvous.Status, error)
	Close()
}

// watcher looks at jobs again and again, until all have ended or the rendezvous has.
// That one is gone is seen by a refused connection alone: a rendezvous that is silent
// or cut off for a while serves a job that goes on, and so may one whose port a server
// with another token has. One that is so for five minutes is an error.
type watcher struct {
	look   func(context.Context) (looker, error)
	show   func([]rendezvous.Status) error
	notice func(string)

	at looker // nil: the rendezvous is to be reached first
}

func (w *watcher) run(ctx context.Context) error {
	defer w.leave()
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	last := time.Now()
	for seen, told := false, false; ; {
		all, err := w.next(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			if err := w.show(all); err != nil || allEnded(all) {
				return err
			}
			seen, told, last = true, false, time.Now()
		case !seen || !mayPass(err):
			return err
		case errors.Is(err, rendezvous.ErrGone):
			w.notice("the rendezvous has ended")
			return nil
		case time.Since(last) > rendezvous.DefaultStartTimeout:
			return fmt.Errorf("not reached for %v: %w", rendezvous.DefaultStartTimeout, err)
		case !told:
			w.notice(err.Error() + "; trying again")
			told = true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// mayPass reports whether a rendezvous that has answered before may answer again after err.
func mayPass(err error) bool {
	code := exitcode.Of(err)
	return code == exitcode.Retry || code == exitcode.Auth
}

// next takes one look. Where a connection broke it is made anew at once: that tells
// what has become of the rendezvous.
func (w *watcher) next(ctx context.Context) ([]rendezvous.Status, error) {
	if w.at != nil {
		all, err := w.at.Next(ctx)
		if err == nil {
			return all, nil
		}
		w.leave()
		if errors.Is(err, rendezvous.ErrLate) || exitcode.Of(err) != exitcode.Retry {
			return nil, err
		}
	}
	l, err := w.look(ctx)
	if err != nil {
		return nil, err
	}
	w.at = l
	all, err := l.Next(ctx)
	if err != nil {
		w.leave()
	}
	return all, err
}

func (w *watcher) leave() {
	if w.at != nil {
		w.at.Close()
		w.at = nil
	}
}
