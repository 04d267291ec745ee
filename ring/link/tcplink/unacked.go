package tcplink

import (
	"fmt"
	"sync"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// maxUnackedBytes bounds the copies that a sender keeps before it waits for an
// acknowledgement. It is the lead that the buffers of the two sockets allow anyway. An
// acknowledgement comes every delivery.AckBytes. See also exceed.
const maxUnackedBytes = 2 * bufferBytes

// firstUnackedBytes is the initial size of the memory, which doubles as needed.
const firstUnackedBytes = 64 << 10

// unackedBuffer has a copy of the frames that were sent and not acknowledged, byte for byte
// as on the wire:
//
//	        first          ackPoints[0]           last
//	          ▼                  ▼                  ▼
//	──────────┬───────┬──────────┬────────┬─────────┬──────────
//	 acked    │ frame │  frame   │ frame  │  frame  │ unsent
//	──────────┴───────┴──────────┴────────┴─────────┴──────────
//
// Byte i of the stream lies at index i modulo len(memory). One goroutine adds frames, and
// another one drops them.
type unackedBuffer struct {
	mu      sync.Mutex
	changed sync.Cond // on mu: first or closed has changed

	memory      []byte
	first, last uint64            // bounds of the kept bytes in the stream
	ackPoints   []uint64          // ends of the frames that will be acknowledged, in order
	oldest      delivery.Position // all frames before it have arrived
	next        delivery.Position // no frame from it on has been sent
	reserved    bool              // room is reserved for a frame that is not added yet
	blocked     bool              // reserve waits
	closed      bool
	exceeds     bool   // the frame that waits may exceed maxUnackedBytes
	onBlock     func() // called when a frame has to wait for an acknowledgement
}

func newUnackedBuffer() *unackedBuffer {
	k := &unackedBuffer{onBlock: func() {}}
	k.changed.L = &k.mu
	return k
}

// reserve makes room for n more bytes. It waits for an acknowledgement if the buffer is full
// and one is due. It returns false after close.
func (k *unackedBuffer) reserve(n int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.reserved = true
	for k.mustWait(n) {
		k.blocked = true
		k.onBlock()
		k.changed.Wait()
	}
	k.blocked, k.exceeds = false, false
	k.ensure(n)
	return !k.closed
}

// tryReserve is reserve, but returns false where reserve would wait.
func (k *unackedBuffer) tryReserve(n int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed || k.mustWait(n) {
		return false
	}
	k.reserved = true
	k.ensure(n)
	return true
}

// mustWait reports whether n more bytes have to wait for an acknowledgement. k.mu is held.
func (k *unackedBuffer) mustWait(n int) bool {
	return !k.closed && !k.exceeds && k.size()+n > maxUnackedBytes && len(k.ackPoints) > 0
}

// ensure allocates memory for n more bytes if needed. k.mu is held.
func (k *unackedBuffer) ensure(n int) {
	if want := k.size() + n; want > len(k.memory) {
		k.grow(want)
	}
}

// size returns the number of kept bytes. k.mu is held.
func (k *unackedBuffer) size() int { return int(k.last - k.first) }

// grow moves the kept bytes to a memory of at least n bytes. k.mu is held.
func (k *unackedBuffer) grow(n int) {
	size := max(len(k.memory), firstUnackedBytes)
	for size < n {
		size *= 2
	}
	a, b := k.parts(k.first, k.last)
	k.memory = make([]byte, size)
	k.put(k.put(k.first, a), b)
}

// parts returns the bytes from one offset of the stream to another. They are in two parts
// if they wrap around the end of the memory.
func (k *unackedBuffer) parts(from, to uint64) (a, b []byte) {
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

// put copies b to an offset of the stream and returns the offset behind it.
func (k *unackedBuffer) put(at uint64, b []byte) uint64 {
	to := at + uint64(len(b))
	x, y := k.parts(at, to)
	copy(y, b[copy(x, b):])
	return to
}

// add keeps a frame as it is on the wire. reserve has made room for it. due reports whether
// the frame will be acknowledged. add must be called before the frame is written.
func (k *unackedBuffer) add(at delivery.Position, head, payload []byte, due bool) {
	last := k.put(k.put(k.last, head), payload) // without mu: only this goroutine touches free memory
	k.mu.Lock()
	defer k.mu.Unlock()
	k.last, k.next, k.reserved = last, at.Next(), false
	if due {
		k.ackPoints = append(k.ackPoints, last)
	}
}

// drop drops all frames up to the next one that is due, whose position is at. A lying
// neighbour may acknowledge a frame between AckTracker.Add and add: drop refuses that.
func (k *unackedBuffer) drop(at delivery.Position) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.ackPoints) == 0 {
		return fmt.Errorf("%w: %v is acknowledged, but has not left", ring.ErrCorruptFrame, at)
	}
	k.first, k.oldest = k.ackPoints[0], at.Next()
	k.ackPoints = append(k.ackPoints[:0], k.ackPoints[1:]...) // few: one for each delivery.AckBytes
	k.changed.Broadcast()
	return nil
}

// exceed lets the frame that waits exceed maxUnackedBytes. An operation sends few frames before it
// receives, so that the copies stay within its buffer.
func (k *unackedBuffer) exceed() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.blocked {
		k.exceeds = true
		k.changed.Broadcast()
	}
}

// isBlocked reports whether a frame waits for an acknowledgement.
func (k *unackedBuffer) isBlocked() bool {
	if k == nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.blocked
}

// hasReservation reports whether a frame is between reserve and add.
func (k *unackedBuffer) hasReservation() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.reserved
}

// close ends a reserve that waits.
func (k *unackedBuffer) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	k.changed.Broadcast()
}

// bounds returns the position from which on all frames are kept, the position from which on
// none has been sent, and the number of bytes dropped so far.
func (k *unackedBuffer) bounds() (oldest, next delivery.Position, dropped uint64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.oldest, k.next, k.first
}

// rewind drops the frames before next, the position at which the receiver continues. It
// returns the bytes to send again, in two parts, and resets tracker for them. No frame may
// be added until these bytes are sent.
func (k *unackedBuffer) rewind(next delivery.Position, book *delivery.AckTracker) (a, b []byte, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	book.Reset()
	k.ackPoints = k.ackPoints[:0]
	for at := k.first; at < k.last; {
		place, n, err := k.frameAt(at)
		if err != nil {
			return nil, nil, err
		}
		at += uint64(n)
		if place.Before(next) {
			k.first = at
		} else if book.Record(place, n) {
			k.ackPoints = append(k.ackPoints, at)
		}
	}
	k.oldest = next
	k.changed.Broadcast()
	a, b = k.parts(k.first, k.last)
	return a, b, nil
}

// frameAt returns the position and the length of the frame at an offset of the stream.
func (k *unackedBuffer) frameAt(at uint64) (delivery.Position, int, error) {
	var head [ring.FrameHeaderBytes]byte
	a, b := k.parts(at, at+ring.FrameHeaderBytes)
	copy(head[copy(head[:], a):], b)
	h, err := ring.ParseFrameHeader(head[:])
	if err != nil {
		return delivery.Position{}, 0, fmt.Errorf("own memory of what was sent: %w", err)
	}
	return delivery.At(&h.Frame), ring.FrameHeaderBytes + h.PayloadBytes, nil
}
