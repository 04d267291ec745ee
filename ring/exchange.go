package ring

import (
	"cmp"
	"errors"
	"fmt"
)

// eagerBytes bounds the frames that the caller's goroutine sends itself. Every link takes one
// such frame while the neighbour does not receive (see [Link]).
//
// That suffices: a rank of a collective sends one frame, then one for each frame that it
// receives. If all ranks blocked in Send, each would have sent as many frames as it received.
// Yet each link would hold a frame that was sent and not received.
const eagerBytes = 64 << 10

// promptBytes bounds the encoded buffers whose frames the caller's goroutine sends by ring if
// the sender has a core of its own. Without a spare core the caller's goroutine is faster for
// every length.
const promptBytes = 4 << 20

// A sendMode says which goroutine sends the frames of a collective.
type sendMode int

const (
	// eager: the caller's goroutine sends all frames, of at most eagerBytes each.
	eager sendMode = iota

	// prompt: the caller's goroutine sends as far as the link takes frames at once, also while
	// it finds none to receive. The sender sends the rest when the caller's goroutine goes to
	// sleep. No goroutine is woken up as long as both neighbours are busy.
	prompt

	// async: the sender's goroutine sends many frames while the caller's receives.
	async
)

// A peerLink is a link and the neighbours at its two ends.
type peerLink struct {
	link       Link // nil: nobody
	stream     uint8
	to, from   side
	leavesHost bool // to another host

	sent, received uint32 // frames of the running collective
	keyBytes       int64  // sent under the link's key in data frames, headers included; 0 without TLS
}

// reset begins a new collective.
func (l *peerLink) reset() { l.sent, l.received = 0, 0 }

// A frameSource makes the frames that a collective sends.
type frameSource interface {
	// fill puts codec and payload of the next frame into f and returns the step that the frame
	// belongs to. The payload does not change until it is sent.
	fill(f *Frame) (step int)
}

// A fault is a failed exchange, before the group has ended for it: see Group.fail.
type fault struct {
	at   side
	step int
	err  error
}

func (f *fault) Error() string { return f.err.Error() }

// start begins a collective of the running operation. Its frames go over the ring until an
// algorithm chooses another link.
func (w *wire) start(op *operation, what terms, source frameSource, mode sendMode) {
	w.op, w.source, w.mode, w.peer = op, source, mode, &w.ring
	w.kind.Store(uint32(what.kind))
	w.ring.reset()
	w.head = Frame{Kind: KindData, Generation: uint32(w.members.Generation), Op: w.number.Load()}
	what.put(&w.head)
	w.frame, w.filled, w.senderStarted, w.pending = w.head, false, false, 0
	w.queue.reset()
}

// finish ends a collective after all frames are sent. It returns err at once if that is not nil:
// the sender then stops when the group has closed the links.
func (w *wire) finish(err error) error {
	if err != nil {
		return err
	}
	w.sendPending(true)
	if w.senderStarted {
		w.queue.finish()
		_, step := w.op.waiting()
		w.waitFor(w.peer.to, step)
		w.senderStarted = false
		if err := <-w.done; err != nil {
			return err
		}
	}
	w.source, w.frame.Payload = nil, nil
	w.kind.Store(0)
	w.number.Add(1)
	return nil
}

// drain waits until the sender has stopped, after the links are closed.
func (w *wire) drain() {
	if w.senderStarted {
		w.senderStarted = false
		w.queue.finish()
		<-w.done
	}
}

// push sends k more frames, or leaves them to the sender.
func (w *wire) push(k int) error {
	switch w.mode {
	case eager:
		for range k {
			if err := w.next(); err != nil {
				return err
			}
		}
	case prompt:
		w.pending += k
		w.sendPending(false)
	case async:
		w.announce(k)
	}
	return nil
}

// sendPending sends the pending frames as far as the link does not block. last says that the
// caller's goroutine is about to sleep: the sender then sends the rest.
func (w *wire) sendPending(last bool) {
	for w.pending > 0 && w.queue.idle() {
		if !w.filled {
			w.step, w.filled = w.source.fill(&w.frame), true
		}
		w.frame.Stream, w.frame.Segment = w.peer.stream, w.peer.sent
		if !w.peer.link.TrySend(w.frame) {
			break // the same frame is tried again, or announced
		}
		w.countFrame()
		w.queue.countSent()
		w.pending--
	}
	if last && w.pending > 0 {
		w.announce(w.pending)
		w.pending = 0
	}
}

// announce leaves k frames to the sender.
func (w *wire) announce(k int) {
	w.queue.announce(k)
	if !w.senderStarted {
		w.senderStarted = true
		w.work <- struct{}{}
	}
}

// awaitSent blocks until n frames of the collective are sent, so that the memory of their
// payloads may change. step is that of the caller.
func (w *wire) awaitSent(n, step int) error {
	if w.mode == eager {
		return nil
	}
	if w.pending > 0 && !w.queue.hasSent(n) {
		w.sendPending(true)
	}
	w.waitFor(w.peer.to, step)
	ok := w.queue.await(n)
	w.waitFor(nobody, step)
	if !ok {
		return ErrClosed // the group has ended because of the sender, whose failure counts
	}
	return nil
}

// sendAll sends the announced frames, on the sender's goroutine.
func (w *wire) sendAll() error {
	for w.queue.next() {
		if err := w.next(); err != nil {
			return err
		}
		w.queue.markSent()
	}
	return nil
}

// next sends one frame.
func (w *wire) next() error {
	if !w.filled {
		w.step, w.filled = w.source.fill(&w.frame), true
	}
	return w.send(w.step)
}

// send sends w.frame, which has its payload, to w.peer.
func (w *wire) send(step int) error {
	l := w.peer
	w.frame.Stream, w.frame.Segment = l.stream, l.sent
	if w.mode == eager {
		w.waitFor(l.to, step)
	}
	if err := l.link.Send(w.op.ctx, w.frame); err != nil {
		return w.fail(l.to, step, err)
	}
	if w.mode == eager {
		w.waitFor(nobody, step)
	}
	w.countFrame()
	return nil
}

// countFrame counts w.frame as sent.
func (w *wire) countFrame() {
	w.filled = false
	w.peer.sent++
	w.progress.Add(1)
	n := int64(FrameHeaderBytes + len(w.frame.Payload))
	w.sent.Add(n)
	if w.peer.leavesHost {
		w.sentOffHost.Add(n)
	}
	if w.peer.link.Facts().TLS {
		w.peer.keyBytes += n
	}
}

// receive returns the next frame of the collective from w.peer, with its payload in into.
func (w *wire) receive(into []byte, step int) (Frame, error) {
	l := w.peer
	w.waitFor(l.from, step)
	f, err := l.link.Recv(w.op.ctx, into)
	if err == nil {
		err = w.check(&f, step)
	} else if e, ok := errors.AsType[*tooLong](err); ok {
		err = cmp.Or(w.check(&e.frame, step), err)
	}
	if err != nil {
		return f, w.fail(l.from, step, err)
	}
	w.waitFor(nobody, step)
	l.received++
	w.progress.Add(1)
	return f, nil
}

// check compares f with the frame that must come next from w.peer.
func (w *wire) check(f *Frame, step int) error {
	var what string
	var got, want uint64
	switch l := w.peer; {
	case f.Kind != KindData:
		what, got, want = "kind", uint64(f.Kind), uint64(KindData)
	case f.Generation != w.head.Generation:
		what, got, want = "generation", uint64(f.Generation), uint64(w.head.Generation)
	case f.Op != w.head.Op:
		what, got, want = "operation", f.Op, w.head.Op
	case f.Terms != w.head.Terms || f.Length != w.head.Length:
		return w.differ(f, step)
	case f.Segment != l.received:
		what, got, want = "segment", uint64(f.Segment), uint64(l.received)
	case f.Stream != l.stream:
		what, got, want = "stream", uint64(f.Stream), uint64(l.stream)
	case f.Codec != 0 && (l != &w.ring || opKind(w.kind.Load()) != opAllReduce):
		what, got, want = "codec byte", uint64(f.Codec), 0
	default:
		return nil
	}
	return fmt.Errorf("%w: %s is %d, want %d", ErrCorruptFrame, what, got, want)
}

// differ returns the error of terms in f, from w.peer, that differ from those of this rank.
func (w *wire) differ(f *Frame, step int) error {
	them := "the neighbour"
	if worker, ok := w.neighbour(w.peer.from, step); ok {
		them = fmt.Sprintf("rank %d", worker.Rank)
	}
	mine, theirs := termsIn(&w.head), termsIn(f)
	return mine.difference(&theirs, w.members.Self().Rank, them)
}
