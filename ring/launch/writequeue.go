package launch

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// writeQueue writes pieces of whole lines in order, in a goroutine of its own. The reader
// of the lines may stop reading for any time, as a pager does.
type writeQueue struct {
	mu            sync.Mutex // guards what follows
	change        sync.Cond  // of any field below
	queue         []piece
	queuedBytes   int  // bytes in the queue, without pending pieces
	pendingPieces int  // pieces in the queue that are not accepted yet
	limit         int  // bound of queuedBytes
	dropping      bool // text beyond the limit is dropped; else writers wait
	droppedBytes  int
	closed        bool // no more pieces come
	abandoned     bool // the rest of the queue is dropped
	taken         int  // pieces taken from the queue

	done chan struct{} // closed when all is written
}

// piece is whole lines for one output.
type piece struct {
	to         io.Writer
	text       []byte
	onAccepted func() // nil: accepted; else called when the piece is accepted or written
}

// newWriteQueue starts a writeQueue, which must be closed.
func newWriteQueue(most int, shed bool) *writeQueue {
	f := &writeQueue{limit: most, dropping: shed, done: make(chan struct{})}
	f.change.L = &f.mu
	go f.deliver()
	return f
}

// write puts text into the queue, once there is room.
func (f *writeQueue) write(to io.Writer, text []byte) {
	if len(text) == 0 {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for f.full(text) && !f.dropping {
		f.change.Wait()
	}
	f.push(to, text)
}

// enqueue is write for callers that must not wait and have a bound of their own. It calls
// onAccepted at once if there is room for text, and at the latest when text is written or
// dropped. All text behind a pending piece is pending, too, even if it completes no line:
// the line may become long.
func (f *writeQueue) enqueue(to io.Writer, text []byte, onAccepted func()) {
	if f.accepted(to, text, onAccepted) {
		onAccepted()
	}
}

// accepted queues text and reports whether it is accepted. If not, the piece is pending,
// and onAccepted is called later.
func (f *writeQueue) accepted(to io.Writer, text []byte, onAccepted func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.dropping && (f.pendingPieces > 0 || f.full(text)) {
		f.pendingPieces++
		f.queue = append(f.queue, piece{to, bytes.Clone(text), onAccepted})
		f.change.Broadcast()
		return false
	}
	if len(text) > 0 {
		f.push(to, text)
	}
	return true
}

// push puts text into the queue, or drops it if there is no room. The caller holds f.mu.
func (f *writeQueue) push(to io.Writer, text []byte) {
	if f.abandoned || f.full(text) {
		f.droppedBytes += len(text)
		return
	}
	f.queue = append(f.queue, piece{to, bytes.Clone(text), nil})
	f.queuedBytes += len(text)
	f.change.Broadcast()
}

// full reports whether there is no room for text. The caller holds f.mu.
func (f *writeQueue) full(text []byte) bool {
	return f.queuedBytes > 0 && f.queuedBytes+len(text) > f.limit
}

// raiseLimit lets the queue grow to limit bytes. With dropping no writer waits from now on.
func (f *writeQueue) raiseLimit(limit int, dropping bool) {
	for _, onAccepted := range f.accept(limit, dropping) {
		onAccepted()
	}
}

// accept raises the limit and accepts the pending pieces that have room now. It returns
// their callbacks.
func (f *writeQueue) accept(limit int, dropping bool) (callbacks []func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limit, f.dropping = limit, f.dropping || dropping
	f.change.Broadcast()
	for i := range f.queue {
		p := &f.queue[i]
		if p.onAccepted != nil && (f.dropping || !f.full(p.text)) {
			f.queuedBytes += len(p.text)
			f.pendingPieces--
			callbacks, p.onAccepted = append(callbacks, p.onAccepted), nil
		}
	}
	return callbacks
}

// deliver writes the pieces until close.
func (f *writeQueue) deliver() {
	defer close(f.done)
	for {
		p, ok := f.next()
		if !ok {
			return
		}
		if len(p.text) > 0 {
			p.to.Write(p.text)
		}
		if p.onAccepted != nil {
			p.onAccepted()
		}
	}
}

// next takes a piece from the queue, once there is one; false at the end.
func (f *writeQueue) next() (piece, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.queue) == 0 && !f.closed {
		f.change.Wait()
	}
	f.taken++
	if len(f.queue) == 0 || f.abandoned {
		return piece{}, false
	}
	p := f.queue[0]
	f.queue[0] = piece{}
	f.queue = f.queue[1:]
	if p.onAccepted == nil {
		f.queuedBytes -= len(p.text)
	} else {
		f.pendingPieces--
	}
	f.change.Broadcast()
	return p, true
}

// close returns true when all is written. It returns false when nothing has moved for
// patience: the rest is lost then. Several goroutines may call close.
func (f *writeQueue) close(patience time.Duration) bool {
	f.raiseLimit(finalQueueLimit, true)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for turns := f.closeInput(); ; {
		select {
		case <-f.done:
			return true
		case <-timer.C:
		}
		var stuck bool
		if turns, stuck = f.abandonIfStuck(turns); stuck {
			return false
		}
		timer.Reset(patience)
	}
}

// closeInput marks the end of the input. It returns the pieces taken so far.
func (f *writeQueue) closeInput() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.change.Broadcast()
	return f.taken
}

// abandonIfStuck drops the queue if no piece was taken since turns. It returns the pieces
// taken so far.
func (f *writeQueue) abandonIfStuck(turns int) (int, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.abandoned = f.taken == turns
	return f.taken, f.abandoned
}

// dropped returns how many bytes found no room.
func (f *writeQueue) dropped() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.droppedBytes
}
