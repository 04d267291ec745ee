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

// ClosingFrame is the last frame that a closing link writes: a goodbye, or an abort.
type ClosingFrame struct {
	Generation uint32
	Why        *ring.Abort // nil: an orderly shutdown
}

// Bytes returns the frame as it is on the wire.
func (c ClosingFrame) Bytes(crc bool) []byte {
	if c.Why != nil {
		return c.Why.AppendFrame(nil, c.Generation, crc)
	}
	var b [ring.FrameHeaderBytes]byte
	ring.PutFrameHeader(b[:], &ring.Frame{Kind: ring.KindClose, Generation: c.Generation}, crc)
	return b[:]
}
