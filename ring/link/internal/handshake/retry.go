package handshake

import (
	"context"
	"fmt"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// The pause between two attempts to dial. It doubles from the first to the last
// value.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 200 * time.Millisecond
)

// retry calls dial until it succeeds, with growing pauses: the port of a worker that starts
// later refuses at first. retry gives up when ctx ends, or when no other attempt can succeed
// (exitcode.Protocol).
//
// The error is a *ring.PeerError about w with the reason of the last attempt. If only the
// time ran out, it has exitcode.Retry.
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
			last = err // an attempt that ctx interrupts has no reason of its own
		}
		select {
		case <-ctx.Done():
			return c, peerError(opDial, w, fmt.Errorf("no link after %d attempts, the last: %w (%w)", attempt, last, context.Cause(ctx)))
		case <-time.After(pause):
		}
	}
}

// ended reports whether ctx has ended. A dial with a deadline from ctx may return a moment
// before ctx.Err does.
func ended(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(end)
}

// The Op of an error gives the direction of the failed connection. A dialer mostly knows the
// reason. An acceptor knows only that the peer did not connect.
const (
	opDial   = "handshake" // to the worker
	opAccept = "accept"    // from the worker
)

// peerError reports that the handshake with w failed.
func peerError(op string, w ring.Worker, err error) error {
	return exitcode.With(exitcode.Retry, &ring.PeerError{Op: op, Rank: w.Rank, Host: w.Host, Addr: w.Addr, Err: err})
}
