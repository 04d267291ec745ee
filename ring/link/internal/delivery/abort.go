package delivery

import (
	"errors"
	"sync"

	"ringtrain/ring"
)

// AbortNotifier passes the first Abort from a neighbour to the function of OnAbort, also if
// that is set later.
type AbortNotifier struct {
	mu     sync.Mutex
	notify func(*ring.Abort)
	first  *ring.Abort
}

// OnAbort sets the function.
func (n *AbortNotifier) OnAbort(heard func(*ring.Abort)) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.notify = heard
	if n.first != nil {
		heard(n.first)
	}
}

// Notify takes the reason for the end of a stream and passes it on if it is an Abort.
func (n *AbortNotifier) Notify(why error) {
	a, ok := errors.AsType[*ring.Abort](why)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.first == nil {
		n.first = a
		if n.notify != nil {
			n.notify(a)
		}
	}
}

// ClosingFrame is the last frame that a closing link writes.
type ClosingFrame struct {
	Bytes         []byte
	FinishPartial bool // write the rest of a partly sent frame first
}

// Goodbye returns the closing frame of an orderly shutdown.
func Goodbye(generation uint32) ClosingFrame {
	var b [ring.FrameHeaderBytes]byte
	ring.PutFrameHeader(b[:], &ring.Frame{Kind: ring.KindClose, Generation: generation}, false)
	return ClosingFrame{Bytes: b[:]}
}

// Abort returns the closing frame that carries the cause why.
func Abort(why *ring.Abort, generation uint32) ClosingFrame {
	return ClosingFrame{Bytes: why.AppendFrame(nil, generation), FinishPartial: true}
}
