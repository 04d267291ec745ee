package handshake

import (
	"context"
	"time"

	"ringtrain/ring/exitcode"
)

// Pauses are those between two attempts. They double from the first to the last.
type Pauses struct{ First, Last time.Duration }

// linkPauses are those of links.
var linkPauses = Pauses{10 * time.Millisecond, 200 * time.Millisecond}

// Retry calls dial until it succeeds: the port of a worker that starts later refuses at first. Retry
// gives up when ctx ends, or when no other attempt can succeed (exitcode.Protocol or exitcode.Usage).
// It then returns the error of the last attempt that ctx did not interrupt.
func Retry[T any](ctx context.Context, p Pauses, dial func(context.Context) (T, error)) (c T, attempts int, last error) {
	for pause := p.First; ; pause = min(2*pause, p.Last) {
		attempts++
		c, err := dial(ctx)
		if err == nil {
			return c, attempts, nil
		}
		if IsFinal(err) {
			return c, attempts, err
		}
		if last == nil || !ended(ctx) {
			last = err
		}
		select {
		case <-ctx.Done():
			return c, attempts, last
		case <-time.After(pause):
		}
	}
}

// IsFinal reports whether no other attempt can succeed after err.
func IsFinal(err error) bool {
	code := exitcode.Of(err)
	return code == exitcode.Protocol || code == exitcode.Usage
}

// ended reports whether ctx has ended. A dial with a deadline from ctx may return a moment
// before ctx.Err does.
func ended(ctx context.Context) bool {
	end, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(end)
}
