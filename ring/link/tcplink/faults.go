package tcplink

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"syscall"
	"time"

	"ringtrain/ring/link/internal/delivery"
	"ringtrain/ring/link/internal/handshake"
)

// RepairTimeouts bounds the repair of a broken connection. A zero field stands for
// the default.
type RepairTimeouts struct {
	Attempt time.Duration // one attempt to connect, with its handshake; 2 s
	Pause   time.Duration // the longest pause between two attempts; 1 s
	Limit   time.Duration // the whole repair, from the break; 10 s
}

func (p RepairTimeouts) orDefault() RepairTimeouts {
	return RepairTimeouts{cmp.Or(p.Attempt, 2*time.Second), cmp.Or(p.Pause, time.Second), cmp.Or(p.Limit, 10*time.Second)}
}

// firstPause is the pause after the first attempt. Each further pause is twice as long.
const firstPause = 10 * time.Millisecond

// The limits on consecutive faults of a connection. A data frame that arrives resets the counts.
const (
	maxRepairs = 3 // repairs that reach the neighbour
	maxCorrupt = 3 // corrupt frames; the last one ends the link
)

// corruptError reports bytes that differ from those sent. They may arrive intact when the
// sender repeats them, unlike a valid frame that violates the protocol.
type corruptError struct{ error }

func (d corruptError) Unwrap() error { return d.error }

func isCorrupt(err error) bool {
	_, ok := errors.AsType[corruptError](err)
	return ok
}

// breakErrnos are the errors of a broken connection between two live workers.
var breakErrnos = []syscall.Errno{
	syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.ETIMEDOUT,
	syscall.ENETRESET, syscall.ENETDOWN, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.EHOSTUNREACH,
}

// isRepairable reports whether a repair is possible after err. It is not after a goodbye
// or after a frame that violates the protocol.
func isRepairable(err error) bool {
	if errors.Is(err, delivery.ErrGoodbye) {
		return false
	}
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) || isCorrupt(err) {
		return true
	}
	errno, ok := errors.AsType[syscall.Errno](err)
	return ok && slices.Contains(breakErrnos, errno)
}

// isGone reports whether err, of an attempt to reconnect, shows that the neighbour has
// ended or refuses this worker: no process listens on its port, or an acceptor that has
// the token has refused.
func isGone(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, handshake.ErrRefused)
}

// isUnreachable reports whether an attempt has not reached the neighbour, so that a later
// one may succeed. An acceptor that does not prove the token is not the neighbour.
func isUnreachable(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, handshake.ErrUnproved) {
		return true
	}
	errno, ok := errors.AsType[syscall.Errno](err)
	return ok && errno != syscall.ECONNRESET && errno != syscall.EPIPE && slices.Contains(breakErrnos, errno)
}
