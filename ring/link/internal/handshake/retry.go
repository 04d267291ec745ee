package handshake

import (
	"context"
	"fmt"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// The pause between two attempts to dial: it doubles from the first to the
// last.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 200 * time.Millisecond
)

// retry calls dial until it succeeds, with growing pauses, at most 200 ms
// long: a worker that starts later than this one refuses at first. It gives up
// when ctx ends or an attempt says that no other can succeed
// (exitcode.Protocol).
//
// The error is a *ring.PeerError about w with the reason of the last attempt;
// that it was only the time that ran out is exitcode.Retry.
func retry[T any](ctx context.Context, w ring.Worker, dial func(context.Context) (T, error)) (T, error) {
	var last error
	for attempt, pause := 1, firstPause; ; attempt, pause = attempt+1, min(2*pause, lastPause) {
		c, err := dial(ctx)
		if err == nil {
			return c, nil
		}
		if exitcode.Of(err) == exitcode.Protocol {
			return c, peerError(opDial, w, err)
		}
		if last == nil || !ended(ctx) {
			last = err // what the end of ctx breaks off tells nothing
		}
		select {
		case <-ctx.Done():
			return c, peerError(opDial, w, fmt.Errorf("no link after %d attempts, the last: %w (%w)", attempt, last, context.Cause(ctx)))
		case <-time.After(pause):
		}
	}
}

// ended tells whether ctx has ended. A dial that takes its deadline from ctx
// may return a moment before ctx knows.
func ended(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(end)
}

// The Op of an error tells which way the connection leads that failed. A dialer
// mostly knows why; an acceptor knows only that nobody came.
const (
	opDial   = "handshake" // to the worker
	opAccept = "accept"    // from the worker
)

// peerError says that the handshake with w failed.
func peerError(op string, w ring.Worker, err error) error {
	return exitcode.With(exitcode.Retry, &ring.PeerError{Op: op, Rank: w.Rank, Host: w.Host, Addr: w.Addr, Err: err})
}
