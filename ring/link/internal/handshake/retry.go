package handshake

import (
	"context"
	"errors"
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

// Retry calls dial until it succeeds, with growing pauses, at most 200 ms
// long: a neighbour that starts later than this worker refuses at first. It
// gives up when ctx ends or an attempt says that no other can succeed
// (exitcode.Auth, exitcode.Protocol).
//
// The error is a *ring.PeerError about right with the reason of the last
// attempt; that it was only the time that ran out is exitcode.Retry.
func Retry[T any](ctx context.Context, right ring.Worker, dial func(context.Context) (T, error)) (T, error) {
	var last error
	for attempt, pause := 1, firstPause; ; attempt, pause = attempt+1, min(2*pause, lastPause) {
		c, err := dial(ctx)
		if err == nil {
			return c, nil
		}
		if code := exitcode.Of(err); code == exitcode.Auth || code == exitcode.Protocol {
			return c, peerError(right, err)
		}
		if last == nil || !ended(ctx) {
			last = err // what the end of ctx breaks off tells nothing
		}
		select {
		case <-ctx.Done():
			return c, peerError(right, fmt.Errorf("no link after %d attempts, the last: %w (%w)", attempt, last, context.Cause(ctx)))
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

// peerError says that the handshake with w failed.
func peerError(w ring.Worker, err error) error {
	return exitcode.With(exitcode.Retry, &ring.PeerError{Op: "handshake", Rank: w.Rank, Host: w.Host, Addr: w.Addr, Err: err})
}

// Both dials and accepts at the same time, as a ring must: every worker's
// right neighbour is busy in the same way. If one fails for good, the other is
// called off and what it got is closed. If both fail, the dialer's error comes
// first.
func Both[D, A interface{ Close() error }](
	ctx context.Context, dial func(context.Context) (D, error), accept func(context.Context) (A, error),
) (D, A, error) {
	both, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		d         D
		dialErr   error
		dialEnded = make(chan struct{})
	)
	go func() {
		defer close(dialEnded)
		if d, dialErr = dial(both); dialErr != nil {
			cancel(errCalledOff)
		}
	}()
	a, acceptErr := accept(both)
	if acceptErr != nil {
		cancel(errCalledOff)
	}
	<-dialEnded
	if dialErr == nil && acceptErr == nil {
		return d, a, nil
	}
	if dialErr == nil {
		d.Close()
	}
	if acceptErr == nil {
		a.Close()
	}
	return d, a, together(dialErr, acceptErr)
}

// errCalledOff ends one half of Both when the other has failed.
var errCalledOff = errors.New("the other link failed")

// together drops the error of a half that was only called off.
func together(dialErr, acceptErr error) error {
	switch {
	case acceptErr == nil || dialErr != nil && errors.Is(acceptErr, errCalledOff):
		return dialErr
	case dialErr == nil || errors.Is(dialErr, errCalledOff):
		return acceptErr
	}
	return fmt.Errorf("%w; %w", dialErr, acceptErr)
}
