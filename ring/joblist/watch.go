package joblist

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous"
)

// watchInterval is the time between two updates.
const watchInterval = time.Second

// A Source is the part of a rendezvous.StatusClient that a Watcher needs.
type Source interface {
	Next(context.Context) ([]rendezvous.Status, error)
	Close()
}

// A Watcher shows jobs repeatedly until all have ended or the rendezvous has ended. Only a
// refused connection means that the rendezvous has ended: a silent or unreachable
// rendezvous may serve a running job, and so may one whose port is now used by a server
// with another token. After five minutes an unreachable rendezvous is an error.
type Watcher struct {
	Look   func(context.Context) (Source, error)
	Show   func([]rendezvous.Status) error
	Notice func(string)

	at Source // nil before a connection
}

// Run shows the jobs until all have ended.
func (w *Watcher) Run(ctx context.Context) error {
	defer w.leave()
	tick := time.NewTicker(watchInterval)
	defer tick.Stop()
	last := time.Now()
	for seen, told := false, false; ; {
		all, err := w.next(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == nil:
			if err := w.Show(all); err != nil || allEnded(all) {
				return err
			}
			seen, told, last = true, false, time.Now()
		case !seen || !mayPass(err):
			return err
		case errors.Is(err, rendezvous.ErrGone):
			w.Notice("the rendezvous has ended")
			return nil
		case time.Since(last) > rendezvous.DefaultStartTimeout:
			return fmt.Errorf("not reached for %v: %w", rendezvous.DefaultStartTimeout, err)
		case !told:
			w.Notice(err.Error() + "; trying again")
			told = true
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// mayPass reports whether a rendezvous that has answered before may answer again after
// err.
func mayPass(err error) bool {
	code := exitcode.Of(err)
	return code == exitcode.Retry || code == exitcode.Auth
}

// next returns the next update. It reconnects at once after a broken connection, to
// learn whether the rendezvous has ended.
func (w *Watcher) next(ctx context.Context) ([]rendezvous.Status, error) {
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
	l, err := w.Look(ctx)
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

func (w *Watcher) leave() {
	if w.at != nil {
		w.at.Close()
		w.at = nil
	}
}

func allEnded(all []rendezvous.Status) bool {
	for _, s := range all {
		if !s.Ended() {
			return false
		}
	}
	return len(all) > 0
}
