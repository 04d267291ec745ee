package ring

import (
	"cmp"
	"context"
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

// A sendMode says which goroutine sends the frames of an operation.
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

// An exchange sends and receives the frames of the running operation. The caller's goroutine
// receives, and pushes frames to send. A frame is filled in when its turn comes: in push, while
// the caller's goroutine finds nothing to receive, or on the sender's goroutine.
type exchange struct {
	w      *wire
	ctx    context.Context
	source frameSource
	mode   sendMode
	head   Frame     // the fields that all frames of the operation share
	peer   *peerLink // that frames are sent to
	ring   peerLink

	spareCore bool // the sender has a core of its own

	frame   Frame // to send next
	filled  bool  // frame is filled in, and perhaps partly sent
	step    int   // of frame, if filled
	pending int   // frames pushed, but neither sent nor announced; of the caller's goroutine

	queue         sendQueue
	senderStarted bool // the sender has been asked to send frames of the operation
	work          chan struct{}
	done          chan error
}

// A peerLink is a link and the neighbours at its two ends.
type peerLink struct {
	link       Link       // nil: nobody
	prompt     PromptLink // link, if it is one
	stream     uint8
	to, from   side
	leavesHost bool // to another host

	sent, received uint32 // frames of the running operation
}

// open takes link, which may be nil. While a goroutine waits in Recv of the link, it sends
// pending frames of x.
func (l *peerLink) open(link Link, x *exchange) {
	l.link = link
	if a, ok := link.(AbortLink); ok {
		a.OnAbort(x.w.g.receiveAbort)
	}
	if p, ok := link.(PromptLink); ok {
		l.prompt = p
		p.OnIdle(x.sendPending)
	}
}

// reset begins a new operation.
func (l *peerLink) reset() { l.sent, l.received = 0, 0 }

// A frameSource makes the frames that an operation sends.
type frameSource interface {
	// fill puts codec and payload of the next frame into f and returns the step that the frame
	// belongs to. The payload does not change until it is sent.
	fill(f *Frame) (step int)
}

func (x *exchange) init(w *wire, spareCore bool) {
	x.w, x.work, x.done, x.spareCore = w, make(chan struct{}, 1), make(chan error, 1), spareCore
	x.queue.init()
}

// start begins the frames of the running operation.
func (x *exchange) start(ctx context.Context, what terms, source frameSource, mode sendMode) {
	x.ctx, x.source, x.mode, x.peer = ctx, source, mode, &x.ring
	x.ring.reset()
	x.head = Frame{Kind: KindData, Generation: uint32(x.w.members.Generation), Op: x.w.seq}
	what.put(&x.head)
	x.frame, x.filled, x.senderStarted, x.pending = x.head, false, false, 0
	x.queue.reset()
}

// push sends k more frames, or leaves them to the sender.
func (x *exchange) push(k int) error {
	switch x.mode {
	case eager:
		for range k {
			if err := x.next(); err != nil {
				return err
			}
		}
	case prompt:
		x.pending += k
		x.sendPending(false)
	case async:
		x.announce(k)
	}
	return nil
}

// sendPending sends the pending frames as far as the link does not block. last says that the
// caller's goroutine is about to sleep: the sender then sends the rest.
func (x *exchange) sendPending(last bool) {
	for x.pending > 0 && x.peer.prompt != nil && x.queue.idle() {
		if !x.filled {
			x.step, x.filled = x.source.fill(&x.frame), true
		}
		x.frame.Stream, x.frame.Segment = x.peer.stream, x.peer.sent
		if !x.peer.prompt.TrySend(x.frame) {
			break // the same frame is tried again, or announced
		}
		x.countFrame()
		x.queue.countSent()
		x.pending--
	}
	if last && x.pending > 0 {
		x.announce(x.pending)
		x.pending = 0
	}
}

// announce leaves k frames to the sender.
func (x *exchange) announce(k int) {
	x.queue.announce(k)
	if !x.senderStarted {
		x.senderStarted = true
		x.work <- struct{}{}
	}
}

// finish returns after all frames are sent, or at once if err is not nil. It returns the error
// of the operation.
func (x *exchange) finish(err error) error {
	if err == nil {
		x.sendPending(true)
	}
	if x.senderStarted {
		x.queue.finish()
		if err == nil {
			_, step := x.w.g.waiting()
			x.w.waitFor(x.peer.to, step)
		}
		if e := <-x.done; err == nil {
			err = e
		}
	}
	x.source, x.frame.Payload = nil, nil
	return err
}

// awaitSent blocks until n frames of the operation are sent, so that the memory of their
// payloads may change. step is that of the caller.
func (x *exchange) awaitSent(n, step int) error {
	if x.mode == eager {
		return nil
	}
	if x.pending > 0 && !x.queue.hasSent(n) {
		x.sendPending(true)
	}
	x.w.waitFor(x.peer.to, step)
	ok := x.queue.await(n)
	x.w.waitFor(nobody, step)
	if !ok {
		return x.w.g.failure()
	}
	return nil
}

// sender is the goroutine that sends announced frames.
func (x *exchange) sender() {
	for {
		select {
		case <-x.work:
			err := x.sendAll()
			x.queue.stop()
			x.done <- err
		case <-x.w.g.stop:
			return
		}
	}
}

func (x *exchange) sendAll() error {
	for x.queue.next() {
		if err := x.next(); err != nil {
			return err
		}
		x.queue.markSent()
	}
	return nil
}

// next sends one frame.
func (x *exchange) next() error {
	if !x.filled {
		x.step, x.filled = x.source.fill(&x.frame), true
	}
	return x.send(x.step)
}

// send sends x.frame, which has its payload, to x.peer.
func (x *exchange) send(step int) error {
	l := x.peer
	x.frame.Stream, x.frame.Segment = l.stream, l.sent
	if x.mode == eager {
		x.w.waitFor(l.to, step)
	}
	if err := l.link.Send(x.ctx, x.frame); err != nil {
		return x.w.fail(l.to, step, err)
	}
	if x.mode == eager {
		x.w.waitFor(nobody, step)
	}
	x.countFrame()
	return nil
}

// countFrame counts x.frame as sent.
func (x *exchange) countFrame() {
	l := x.peer
	x.filled = false
	l.sent++
	x.w.progress.Add(1)
	n := int64(FrameHeaderBytes + len(x.frame.Payload))
	x.w.sent.Add(n)
	if l.leavesHost {
		x.w.sentOffHost.Add(n)
	}
}

// receive returns the next frame of the operation from l, with its payload in into.
func (x *exchange) receive(l *peerLink, into []byte, step int) (Frame, error) {
	x.w.waitFor(l.from, step)
	if l.prompt == nil { // Recv does not call sendPending
		x.sendPending(true)
	}
	f, err := l.link.Recv(x.ctx, into)
	if err == nil {
		err = x.check(&f, l, step)
	} else if e, ok := errors.AsType[*tooLong](err); ok {
		err = cmp.Or(x.check(&e.frame, l, step), err)
	}
	if err != nil {
		return f, x.w.fail(l.from, step, err)
	}
	x.w.waitFor(nobody, step)
	l.received++
	x.w.progress.Add(1)
	return f, nil
}

// check compares f with the frame that must come next from l.
func (x *exchange) check(f *Frame, l *peerLink, step int) error {
	var what string
	var got, want uint64
	switch {
	case f.Kind != KindData:
		what, got, want = "kind", uint64(f.Kind), uint64(KindData)
	case f.Generation != x.head.Generation:
		what, got, want = "generation", uint64(f.Generation), uint64(x.head.Generation)
	case f.Op != x.head.Op:
		what, got, want = "operation", f.Op, x.head.Op
	case f.Terms != x.head.Terms || f.Length != x.head.Length:
		return x.differ(f, l.from, step)
	case f.Segment != l.received:
		what, got, want = "segment", uint64(f.Segment), uint64(l.received)
	case f.Stream != l.stream:
		what, got, want = "stream", uint64(f.Stream), uint64(l.stream)
	case f.Codec != 0 && (l != &x.ring || x.w.kind != opAllReduce):
		what, got, want = "codec byte", uint64(f.Codec), 0
	default:
		return nil
	}
	return fmt.Errorf("%w: %s is %d, want %d", ErrCorruptFrame, what, got, want)
}

// differ returns the error of terms in f that differ from those of this rank. from is the side
// of the sender.
func (x *exchange) differ(f *Frame, from side, step int) error {
	them := "the neighbour"
	if worker, ok := x.w.neighbour(from, step); ok {
		them = fmt.Sprintf("rank %d", worker.Rank)
	}
	mine, theirs := termsIn(&x.head), termsIn(f)
	return mine.difference(&theirs, x.w.members.Self().Rank, them)
}
