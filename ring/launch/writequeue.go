package launch

import (
	"bytes"
	"io"
	"sync"
	"time"
)

// feed writes pieces of whole lines, one after the other, in a goroutine of its own:
// whoever reads them may stop to read for as long as it likes, as a pager does.
type writeQueue struct {
	mu            sync.Mutex // guards what follows
	change        sync.Cond  // of any of it
	queue         []piece
	queuedBytes   int  // bytes in the queue, those apart that are owed
	pendingPieces int  // pieces in the queue that are
	limit         int  // bound of held
	dropping      bool // what is beyond it is lost; else who writes waits
	droppedBytes  int  // bytes
	closed        bool // nothing will be written any more
	abandoned     bool // nobody waits for what is still in the queue
	taken         int  // pieces that were taken

	done chan struct{} // closed when all is written
}

// piece is whole lines for one output.
type piece struct {
	to         io.Writer
	text       []byte
	onAccepted func() // nil: it counts; else called when it does, or is written
}

// newFeed starts a feed, which must be closed.
func newWriteQueue(most int, shed bool) *writeQueue {
	f := &writeQueue{limit: most, dropping: shed, done: make(chan struct{})}
	f.change.L = &f.mu
	go f.deliver()
	return f
}

// write puts text into the queue, when there is room.
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

// owe is write for who must not wait and has a bound of its own: paid is called at once
// if there is room for text, and not later than when it is written or lost. Behind what is
// owed all else is, too, even if it completes no line: the line may come to be long.
func (f *writeQueue) enqueue(to io.Writer, text []byte, paid func()) {
	if f.accepted(to, text, paid) {
		paid()
	}
}

// queued tells whether what is to be called when text is queued is to be called now.
func (f *writeQueue) accepted(to io.Writer, text []byte, paid func()) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.dropping && (f.pendingPieces > 0 || f.full(text)) {
		f.pendingPieces++
		f.queue = append(f.queue, piece{to, bytes.Clone(text), paid})
		f.change.Broadcast()
		return false
	}
	if len(text) > 0 {
		f.push(to, text)
	}
	return true
}

// put puts text into the queue, or drops it where nobody waits for room. It is called
// with f.mu held.
func (f *writeQueue) push(to io.Writer, text []byte) {
	if f.abandoned || f.full(text) {
		f.droppedBytes += len(text)
		return
	}
	f.queue = append(f.queue, piece{to, bytes.Clone(text), nil})
	f.queuedBytes += len(text)
	f.change.Broadcast()
}

// full tells whether there is no room for text. It is called with f.mu held.
func (f *writeQueue) full(text []byte) bool {
	return f.queuedBytes > 0 && f.queuedBytes+len(text) > f.limit
}

// lift lets the queue grow to most bytes. With shed nobody waits from now on.
func (f *writeQueue) raiseLimit(most int, shed bool) {
	for _, paid := range f.accept(most, shed) {
		paid()
	}
}

// raise is lift, but for the calls to those for whom there is room now.
func (f *writeQueue) accept(most int, shed bool) (paid []func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.limit, f.dropping = most, f.dropping || shed
	f.change.Broadcast()
	for i := range f.queue {
		p := &f.queue[i]
		if p.onAccepted != nil && (f.dropping || !f.full(p.text)) {
			f.queuedBytes += len(p.text)
			f.pendingPieces--
			paid, p.onAccepted = append(paid, p.onAccepted), nil
		}
	}
	return paid
}

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

// next takes a piece from the queue, when there is one; false at the end.
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

// close returns when all is written, or false when for so long nothing has moved: what
// is left is lost then. It may be called by several goroutines.
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

// end says that nothing will be written any more. It returns the turns so far.
func (f *writeQueue) closeInput() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	f.change.Broadcast()
	return f.taken
}

// stuck gives up what is in the queue if nothing was taken since turns. It returns
// the turns so far.
func (f *writeQueue) abandonIfStuck(turns int) (int, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.abandoned = f.taken == turns
	return f.taken, f.abandoned
}

// missed is how many bytes found no room.
func (f *writeQueue) dropped() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.droppedBytes
}
