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

// Patience says how long a broken connection is repaired. A zero field stands for
// the default.
type Patience struct {
	Attempt time.Duration // for one attempt to connect and shake hands; 2 s
	Pause   time.Duration // the longest one between two attempts; 1 s
	Limit   time.Duration // from the break on; 10 s
}

func (p Patience) orDefault() Patience {
	return Patience{cmp.Or(p.Attempt, 2*time.Second), cmp.Or(p.Pause, time.Second), cmp.Or(p.Limit, 10*time.Second)}
}

// firstPause is the pause after the first attempt; then it doubles.
const firstPause = 10 * time.Millisecond

// The faults that a connection may have, one after the other, without a frame that
// arrives in between.
const (
	maxTries  = 3 // repairs that reach the neighbour
	maxDamage = 3 // corrupt frames; the last one ends the link
)

// damaged is an error about bytes that are not those which were sent: unlike a
// frame that is whole and wrong, they may come right when they are sent again.
type damaged struct{ error }

func (d damaged) Unwrap() error { return d.error }

func isDamage(err error) bool {
	_, ok := errors.AsType[damaged](err)
	return ok
}

// breaks are what the network does to a connection between two workers that live.
var breaks = []syscall.Errno{
	syscall.ECONNRESET, syscall.ECONNABORTED, syscall.EPIPE, syscall.ETIMEDOUT,
	syscall.ENETRESET, syscall.ENETDOWN, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.EHOSTUNREACH,
}

// isBreak tells whether the end of a connection may be repaired. A goodbye is
// none, and neither is a frame that nobody should send.
func isBreak(err error) bool {
	if errors.Is(err, delivery.ErrGoodbye) {
		return false
	}
	if err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) || isDamage(err) {
		return true
	}
	errno, ok := errors.AsType[syscall.Errno](err)
	return ok && slices.Contains(breaks, errno)
}

// isGone tells whether an attempt to reach a neighbour again says that the worker
// which had the connection is no more, or wants it no more: nobody listens in its
// place, or somebody with the token has refused.
func isGone(err error) bool {
	return errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, handshake.ErrRefused)
}

// isDistant tells whether an attempt has not reached the neighbour: what only time
// can help. Whoever answers in its place and does not prove the token is another.
func isDistant(err error) bool {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, handshake.ErrUnproved) {
		return true
	}
	errno, ok := errors.AsType[syscall.Errno](err)
	return ok && errno != syscall.ECONNRESET && errno != syscall.EPIPE && slices.Contains(breaks, errno)
}
