package ringtest

import (
	"context"
	"errors"
	"time"

	"ringtrain/ring"
)

// Fault is a fault at one frame that a rank sends, or from that frame on.
type Fault struct {
	Op      uint64 // number of the frame's collective
	Segment uint32 // the frame's number in the operation
	Kind    FaultKind
	Change  func(f *ring.Frame) // of Corrupt: changes the frame
	Delay   time.Duration       // of Delay: delays the frame
}

// FaultKind is the kind of a fault.
type FaultKind int

// The kinds of faults.
const (
	Cut     FaultKind = iota // Send fails, since the link is broken
	Silence                  // this frame and all later ones are lost
	Corrupt                  // the frame arrives changed
	Delay                    // the frame arrives late
)

// ErrCut is the error of a rank whose own link a Fault has cut.
var ErrCut = errors.New("ringtest: link cut")

// WithFault returns l with the fault f. It does not affect frames before f's
// coordinates.
func WithFault(l ring.Link, f Fault) ring.Link { return &faulty{Link: l, fault: f} }

type faulty struct {
	ring.Link
	fault  Fault
	silent bool
}

// Abort tells the neighbours nothing if the link is silent.
func (f *faulty) Abort(why *ring.Abort) error {
	if f.silent {
		return f.Link.Close()
	}
	return f.Link.Abort(why)
}

// TrySend leaves all frames to Send, which has the fault.
func (f *faulty) TrySend(ring.Frame) bool { return false }

// Send sends frame unless the fault prevents that.
func (f *faulty) Send(ctx context.Context, frame ring.Frame) error {
	if f.silent {
		return nil
	}
	if frame.Op != f.fault.Op || frame.Segment != f.fault.Segment {
		return f.Link.Send(ctx, frame)
	}
	switch f.fault.Kind {
	case Cut:
		return ErrCut
	case Silence:
		f.silent = true
		return nil
	case Corrupt:
		frame.Payload = append([]byte(nil), frame.Payload...) // the caller's payload stays unchanged
		f.fault.Change(&frame)
	case Delay:
		time.Sleep(f.fault.Delay)
	default:
		panic("ringtest: no such fault")
	}
	return f.Link.Send(ctx, frame)
}
