package delivery

import (
	"errors"
	"sync"

	"ringtrain/ring"
)

// A Hearing takes the first Abort that comes from a neighbour to who asks for it, also later.
type Hearing struct {
	mu    sync.Mutex
	heard func(*ring.Abort)
	first *ring.Abort
}

// On is ring.AbortLink's OnAbort.
func (h *Hearing) On(heard func(*ring.Abort)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.heard = heard; h.first != nil {
		heard(h.first)
	}
}

// Tell takes the reason why a stream has ended, and passes it on if it is an Abort.
func (h *Hearing) Tell(why error) {
	a, ok := errors.AsType[*ring.Abort](why)
	if !ok {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.first == nil {
		if h.first = a; h.heard != nil {
			h.heard(a)
		}
	}
}

// Farewell is the last frame of a stream that its sender ends: its bytes.
type Farewell struct {
	Bytes []byte
	Rest  bool // the rest of a frame that is being sent goes first
	Cut   bool // what goes to the right neighbour has no good end
}

// Goodbye is a farewell in good order.
func Goodbye(generation uint32) Farewell {
	var b [ring.FrameHeaderBytes]byte
	ring.PutFrameHeader(b[:], &ring.Frame{Kind: ring.KindClose, Generation: generation}, false)
	return Farewell{Bytes: b[:]}
}

// Abort is a farewell that tells why.
func Abort(why *ring.Abort, generation uint32) Farewell {
	return Farewell{Bytes: why.AppendFrame(nil, generation), Rest: true}
}
