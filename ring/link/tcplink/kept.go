package tcplink

import (
	"fmt"
	"sync"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// keepBytes is how much a sender keeps before it waits for an acknowledgement: as
// much as it can be ahead of a receiver on another machine anyway, which is what the
// buffers of the two sockets hold. Acknowledgements come each delivery.AckBytes.
const keepBytes = 2 * bufferBytes

// firstKept is how much memory a sender takes at first; it is doubled as needed.
const firstKept = 64 << 10

// kept is the copy of what a sender has sent and the receiver has not acknowledged,
// byte by byte as it is on the wire:
//
//	        first             ends[0]              last
//	          ▼                  ▼                   ▼
//	──────────┬───────┬──────────┬────────┬──────────┬──────────
//	 received │ frame │  frame   │ frame  │  frame   │ to come
//	──────────┴───────┴──────────┴────────┴──────────┴──────────
//
// Byte i of the stream lies at i modulo the length of the memory. One goroutine
// adds, another one drops.
type kept struct {
	mu      sync.Mutex
	changed sync.Cond // first has moved, or the end has come; over mu

	memory      []byte
	first, last uint64
	ends        []uint64          // of the frames that will be acknowledged, in their order
	oldest      delivery.Position // nothing before it is kept: all of that has arrived
	next        delivery.Position // nothing from it on has been sent
	coming      bool              // a frame for which room is reserved
	full        bool              // that one waits
	over        bool
	waits       func() // is called when a frame has to wait for an acknowledgement
}

func newKept() *kept {
	k := &kept{waits: func() {}}
	k.changed.L = &k.mu
	return k
}

// reserve makes room for n bytes more, and waits for an acknowledgement where there
// is too much already and one is due. It returns false after end.
func (k *kept) reserve(n int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.coming = true
	for k.lacks(n) {
		k.full = true
		k.waits()
		k.changed.Wait()
	}
	k.full = false
	k.make(n)
	return !k.over
}

// tryReserve is reserve where that does not wait, else false.
func (k *kept) tryReserve(n int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over || k.lacks(n) {
		return false
	}
	k.coming = true
	k.make(n)
	return true
}

// lacks tells whether n bytes more have to wait for an acknowledgement. k.mu is held.
func (k *kept) lacks(n int) bool {
	return !k.over && k.size()+n > keepBytes && len(k.ends) > 0
}

// make makes memory for n bytes more. k.mu is held.
func (k *kept) make(n int) {
	if want := k.size() + n; want > len(k.memory) {
		k.grow(want)
	}
}

// size returns how much is kept. k.mu is held.
func (k *kept) size() int { return int(k.last - k.first) }

// grow moves what is kept to memory for at least n bytes. k.mu is held.
func (k *kept) grow(n int) {
	size := max(len(k.memory), firstKept)
	for size < n {
		size *= 2
	}
	a, b := k.parts(k.first, k.last)
	k.memory = make([]byte, size)
	k.put(k.put(k.first, a), b)
}

// parts returns the bytes from one place of the stream up to another one, in two
// parts: the memory may end in between.
func (k *kept) parts(from, to uint64) (a, b []byte) {
	if from == to {
		return nil, nil
	}
	size := uint64(len(k.memory))
	start := from % size
	if n := to - from; start+n <= size {
		return k.memory[start : start+n], nil
	}
	return k.memory[start:], k.memory[:to%size]
}

// put copies b to a place of the stream and returns the place after it.
func (k *kept) put(at uint64, b []byte) uint64 {
	to := at + uint64(len(b))
	x, y := k.parts(at, to)
	copy(y, b[copy(x, b):])
	return to
}

// add keeps a frame, for which reserve has made room, as it is on the wire. due
// tells whether it will be acknowledged. It must be called before the frame leaves.
func (k *kept) add(at delivery.Position, head, payload []byte, due bool) {
	last := k.put(k.put(k.last, head), payload) // nobody else touches what is free
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last, k.next, k.coming = last, at.Next(), false
	if due {
		k.ends = append(k.ends, last)
	}
}

// drop drops all up to the frame that is to be acknowledged next, which is at at.
// A frame is in the book before it is here, and a neighbour that lies acknowledges
// it in between.
func (k *kept) drop(at delivery.Position) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.ends) == 0 {
		return fmt.Errorf("%w: %v is acknowledged, but has not left", ring.ErrCorruptFrame, at)
	}
	k.first, k.oldest = k.ends[0], at.Next()
	k.ends = append(k.ends[:0], k.ends[1:]...) // one for each MiB: few
	k.changed.Broadcast()
	return nil
}

// isFull tells whether a frame waits for an acknowledgement.
func (k *kept) isFull() bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.full
}

// busy tells whether a frame is between reserve and add.
func (k *kept) busy() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.coming
}

// end ends a reserve that waits.
func (k *kept) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	k.changed.Broadcast()
}

// span returns the position from which on all is kept, the one from which on
// nothing has been sent, and how many bytes of the stream were dropped.
func (k *kept) span() (oldest, next delivery.Position, dropped uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.oldest, k.next, k.first
}

// rewind drops what lies before next, where the receiver goes on, and returns what
// is to be sent again, in two parts. The book of acknowledgements begins anew with
// it. No frame may be added until it is sent.
func (k *kept) rewind(next delivery.Position, book *delivery.Sent) (a, b []byte, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	book.Restart()
	k.ends = k.ends[:0]
	for at := k.first; at < k.last; {
		place, n, err := k.frame(at)
		if err != nil {
			return nil, nil, err
		}
		at += uint64(n)
		if place.Before(next) {
			k.first = at
		} else if book.Enter(place, n) {
			k.ends = append(k.ends, at)
		}
	}
	k.oldest = next
	k.changed.Broadcast()
	a, b = k.parts(k.first, k.last)
	return a, b, nil
}

// frame returns position and length of the frame at a place of the stream.
func (k *kept) frame(at uint64) (delivery.Position, int, error) {
	var head [ring.FrameHeaderBytes]byte
	a, b := k.parts(at, at+ring.FrameHeaderBytes)
	copy(head[copy(head[:], a):], b)
	h, err := ring.ParseFrameHeader(head[:])
	if err != nil {
		return delivery.Position{}, 0, fmt.Errorf("own memory of what was sent: %w", err)
	}
	return delivery.At(&h.Frame), ring.FrameHeaderBytes + h.PayloadBytes, nil
}
