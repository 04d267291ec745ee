package ringtest

import (
	"context"
	"errors"
	"time"

	"ringtrain/ring"
)

// A Fault is what goes wrong with one frame that a rank sends, and after it.
type Fault struct {
	Op      uint64 // the frame's operation
	Segment uint32 // the frame's number in it
	Do      Act
	Change  func(f *ring.Frame) // Corrupt: what becomes of the frame
	Delay   time.Duration       // Delay: how long it is held back
}

// Act is a kind of fault.
type Act int

// The kinds of faults.
const (
	Cut     Act = iota // the frame cannot be sent, since the link is broken
	Silence            // this frame and all later ones are lost
	Corrupt            // the frame arrives changed
	Delay              // the frame arrives late
)

// ErrCut is what a rank gets whose own link a Fault has cut.
var ErrCut = errors.New("ringtest: link cut")

// WithFault returns l with f in it. Nothing but frames from f's coordinates on
// is touched.
func WithFault(l ring.Link, f Fault) ring.Link { return &faulty{Link: l, fault: f} }

type faulty struct {
	ring.Link
	fault  Fault
	silent bool
}

// Abort is that of a ring.AbortLink, where the link is one.
func (l *faulty) Abort(why *ring.Abort) error {
	if a, ok := l.Link.(ring.AbortLink); ok && !l.silent {
		return a.Abort(why)
	}
	return l.Link.Close()
}

// OnAbort is that of a ring.AbortLink, where the link is one.
func (l *faulty) OnAbort(heard func(*ring.Abort)) {
	if a, ok := l.Link.(ring.AbortLink); ok {
		a.OnAbort(heard)
	}
}

// Send sends frame unless it is the one at fault.
func (l *faulty) Send(ctx context.Context, frame ring.Frame) error {
	if l.silent {
		return nil
	}
	if frame.Op != l.fault.Op || frame.Segment != l.fault.Segment {
		return l.Link.Send(ctx, frame)
	}
	switch l.fault.Do {
	case Cut:
		return ErrCut
	case Silence:
		l.silent = true
		return nil
	case Corrupt:
		frame.Payload = append([]byte(nil), frame.Payload...) // the caller's stays whole
		l.fault.Change(&frame)
	case Delay:
		time.Sleep(l.fault.Delay)
	default:
		panic("ringtest: no such fault")
	}
	return l.Link.Send(ctx, frame)
}
