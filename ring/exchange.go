package ring

import (
	"cmp"
	"context"
	"errors"
	"fmt"
)

// eagerBytes bounds the frames that the caller's goroutine sends itself. Every
// link takes one such frame while the neighbour does not receive (see [Link]).
//
// That is enough: a rank of a collective sends one frame, then one for each
// that it receives. If all ranks were stuck sending, each would have sent as
// many as it received, yet each link would hold one that was sent and not
// received. A tree needs no room at all: in each of its steps one of two partners
// sends and the other receives, and all ranks take the steps in one order.
const eagerBytes = 64 << 10

// promptBytes bounds the buffers, encoded, whose frames the caller's goroutine sends by ring, as far
// as it need not wait, where there is a core for the sender's as well. Where there is none it is
// faster whatever the length: 8 MiB among 2, 4 and 8 processes on two cores took 0.95, 0.75 and
// 0.92 of the time of the sender's (lower quartiles of 6 interleaved rounds, noisy).
const promptBytes = 4 << 20

// A sendMode is who sends the frames of an operation.
type sendMode int

const (
	// eager is the caller's goroutine: frames of eagerBytes at most.
	eager sendMode = iota

	// prompt is the caller's goroutine as far as the link takes frames at once, also while
	// it finds none to receive, and the sender's for what is left when it goes to sleep:
	// nobody is woken up as long as both neighbours are busy.
	prompt

	// async is the sender's goroutine, while the caller's receives: many frames.
	async
)

// An exchange is the sendQueue of the running operation. The caller's goroutine
// receives; frames to send are pushed, and filled in when their turn comes: in push, while
// that goroutine finds nothing to receive, or on the sender's.
type exchange struct {
	w      *wire
	ctx    context.Context
	source frameSource
	mode   sendMode
	head   Frame     // what all frames of the operation have in common
	peer   *peerLink // where frames go
	ring   peerLink

	spareCore bool // this worker has a core for the sender, too

	frame   Frame // the one to send next
	filled  bool  // it is filled in, and perhaps begun
	step    int   // then: what it belongs to
	pending int   // frames that are pushed and neither sent nor announced; the caller's

	queue         sendQueue
	senderStarted bool // the sender has been asked to send frames of the operation
	work          chan struct{}
	done          chan error
}

// A peerLink is a link, and whom it joins this rank to.
type peerLink struct {
	link       Link       // nil: nobody
	prompt     PromptLink // link, if it is one
	stream     uint8
	to, from   side
	leavesHost bool // to another host

	sent, received uint32 // frames of the running operation
}

// open puts link, which may be nil, in its place. Whoever receives from it sends for x
// meanwhile.
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

// An frameSource knows the frames that an operation sends.
type frameSource interface {
	// fill puts codec and payload of the next frame into f and returns the step
	// that it belongs to. The payload is not changed until it is sent.
	fill(f *Frame) (step int)
}

func (x *exchange) init(w *wire, spareCore bool) {
	x.w, x.work, x.done, x.spareCore = w, make(chan struct{}, 1), make(chan error, 1), spareCore
	x.queue.init()
}

// start begins the sendQueue of the running operation.
func (x *exchange) start(ctx context.Context, what terms, source frameSource, mode sendMode) {
	x.ctx, x.source, x.mode, x.peer = ctx, source, mode, &x.ring
	x.ring.reset()
	x.head = Frame{Kind: KindData, Generation: uint32(x.w.members.Generation), Op: x.w.seq}
	what.put(&x.head)
	x.frame, x.filled, x.senderStarted, x.pending = x.head, false, false, 0
	x.queue.reset()
}

// push has k more frames sent.
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

// sendPending sends the pending frames as far as the link need not wait. With last, the
// caller's goroutine is about to wait: the sender's then sends the rest.
func (x *exchange) sendPending(last bool) {
	for x.pending > 0 && x.peer.prompt != nil && x.queue.idle() {
		if !x.filled {
			x.step, x.filled = x.source.fill(&x.frame), true
		}
		x.frame.Stream, x.frame.Segment = x.peer.stream, x.peer.sent
		if !x.peer.prompt.TrySend(x.frame) {
			break // to be tried again, or announced
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

// finish returns when all frames are sent, or after err at once. It returns the
// operation's error.
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

// awaitSent blocks until n frames of the operation are sent, so that the memory
// of their payloads may change. step is the caller's.
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

// sender is the goroutine that sends what is announced.
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

// send sends x.frame, whose payload is there, over x.peer.
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

// countFrame counts x.frame, which is sent.
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

// receive returns the next frame of the operation from a peer; its payload lies in into.
func (x *exchange) receive(l *peerLink, into []byte, step int) (Frame, error) {
	x.w.waitFor(l.from, step)
	if l.prompt == nil { // nothing calls sendPending
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

// differ returns in what the terms of f, which the worker at a side has sent, differ from this
// rank's.
func (x *exchange) differ(f *Frame, from side, step int) error {
	them := "the neighbour"
	if worker, ok := x.w.neighbour(from, step); ok {
		them = fmt.Sprintf("rank %d", worker.Rank)
	}
	mine, theirs := termsIn(&x.head), termsIn(f)
	return mine.difference(&theirs, x.w.members.Self().Rank, them)
}
