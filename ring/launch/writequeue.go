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
func (w *writeQueue) write(to io.Writer, text []byte) {
	if len(text) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.full(text) && !w.dropping {
		w.change.Wait()
	}
	w.push(to, text)
}

// enqueue is write for callers that must not wait and have a bound of their own. It calls
// onAccepted at once if there is room for text, and at the latest when text is written or
// dropped. All text behind a pending piece is pending, too, even if it completes no line:
// the line may become long.
func (w *writeQueue) enqueue(to io.Writer, text []byte, onAccepted func()) {
	if w.accepted(to, text, onAccepted) {
		onAccepted()
	}
}

// accepted queues text and reports whether it is accepted. If not, the piece is pending,
// and onAccepted is called later.
func (w *writeQueue) accepted(to io.Writer, text []byte, onAccepted func()) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.dropping && (w.pendingPieces > 0 || w.full(text)) {
		w.pendingPieces++
		w.queue = append(w.queue, piece{to, bytes.Clone(text), onAccepted})
		w.change.Broadcast()
		return false
	}
	if len(text) > 0 {
		w.push(to, text)
	}
	return true
}

// push puts text into the queue, or drops it if there is no room. The caller holds w.mu.
func (w *writeQueue) push(to io.Writer, text []byte) {
	if w.abandoned || w.full(text) {
		w.droppedBytes += len(text)
		return
	}
	w.queue = append(w.queue, piece{to, bytes.Clone(text), nil})
	w.queuedBytes += len(text)
	w.change.Broadcast()
}

// full reports whether there is no room for text. The caller holds w.mu.
func (w *writeQueue) full(text []byte) bool {
	return w.queuedBytes > 0 && w.queuedBytes+len(text) > w.limit
}

// raiseLimit lets the queue grow to limit bytes. With dropping no writer waits from now on.
func (w *writeQueue) raiseLimit(limit int, dropping bool) {
	for _, onAccepted := range w.accept(limit, dropping) {
		onAccepted()
	}
}

// accept raises the limit and accepts the pending pieces that have room now. It returns
// their callbacks.
func (w *writeQueue) accept(limit int, dropping bool) (callbacks []func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit, w.dropping = limit, w.dropping || dropping
	w.change.Broadcast()
	for i := range w.queue {
		p := &w.queue[i]
		if p.onAccepted != nil && (w.dropping || !w.full(p.text)) {
			w.queuedBytes += len(p.text)
			w.pendingPieces--
			callbacks, p.onAccepted = append(callbacks, p.onAccepted), nil
		}
	}
	return callbacks
}

// deliver writes the pieces until close.
func (w *writeQueue) deliver() {
	defer close(w.done)
	for {
		p, ok := w.next()
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
func (w *writeQueue) next() (piece, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.queue) == 0 && !w.closed {
		w.change.Wait()
	}
	w.taken++
	if len(w.queue) == 0 || w.abandoned {
		return piece{}, false
	}
	p := w.queue[0]
	w.queue[0] = piece{}
	w.queue = w.queue[1:]
	if p.onAccepted == nil {
		w.queuedBytes -= len(p.text)
	} else {
		w.pendingPieces--
	}
	w.change.Broadcast()
	return p, true
}

// close returns true when all is written. It returns false when nothing has moved for
// patience: the rest is lost then. Several goroutines may call close.
func (w *writeQueue) close(patience time.Duration) bool {
	w.raiseLimit(finalQueueLimit, true)
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for turns := w.closeInput(); ; {
		select {
		case <-w.done:
			return true
		case <-timer.C:
		}
		var stuck bool
		if turns, stuck = w.abandonIfStuck(turns); stuck {
			return false
		}
		timer.Reset(patience)
	}
}

// closeInput marks the end of the input. It returns the pieces taken so far.
func (w *writeQueue) closeInput() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.change.Broadcast()
	return w.taken
}

// abandonIfStuck drops the queue if no piece was taken since turns. It returns the pieces
// taken so far.
func (w *writeQueue) abandonIfStuck(turns int) (int, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.abandoned = w.taken == turns
	return w.taken, w.abandoned
}

// dropped returns how many bytes found no room.
func (w *writeQueue) dropped() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.droppedBytes
}
