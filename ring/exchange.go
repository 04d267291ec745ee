package ring

import (
	"context"
	"fmt"
)

// eagerBytes bounds the frames that the caller's goroutine sends itself. Every
// link takes one such frame while the neighbour does not receive (see [Link]).
//
// That is enough: a rank of a collective sends one frame, then one for each
// that it receives. If all ranks were stuck sending, each would have sent as
// many as it received, yet each link would hold one that was sent and not
// received.
const eagerBytes = 64 << 10

// An exchange is the traffic of the running operation. The caller's goroutine
// receives; frames to send are announced by push and filled in when their turn
// comes, on the sender's goroutine or, if eager, in push itself.
type exchange struct {
	g        *Group
	ctx      context.Context
	out      outgoing
	eager    bool
	frame    Frame  // the one to send next
	received uint32 // frames

	ready, sent pace // frames that may be sent, that were sent
	work        chan struct{}
	done        chan error
}

// An outgoing knows the frames that an operation sends.
type outgoing interface {
	// fill puts codec and payload of the next frame into f and returns the step
	// of the ring that it belongs to. The payload is not changed until it is sent.
	fill(f *Frame) (step int, err error)
}

func (x *exchange) init(g *Group) {
	x.g, x.work, x.done = g, make(chan struct{}, 1), make(chan error, 1)
	x.ready.init()
	x.sent.init()
}

// start begins the traffic of the running operation.
func (x *exchange) start(ctx context.Context, out outgoing, eager bool) {
	x.ctx, x.out, x.eager, x.received = ctx, out, eager, 0
	x.frame = Frame{Kind: KindData, Generation: x.g.members.Generation, Op: x.g.op.seq}
	if !eager {
		x.ready.reset()
		x.sent.reset()
		x.work <- struct{}{}
	}
}

// push announces k more frames.
func (x *exchange) push(k int) error {
	if !x.eager {
		x.ready.raise(k)
		return nil
	}
	for range k {
		if err := x.next(); err != nil {
			return err
		}
	}
	return nil
}

// finish returns when all announced frames are sent, or after err at once. It
// returns the operation's error.
func (x *exchange) finish(err error) error {
	if !x.eager {
		x.ready.finish()
		if err == nil {
			_, step := x.g.waiting()
			x.g.waitFor(right, step)
		}
		if e := <-x.done; err == nil {
			err = e
		}
	}
	x.out, x.frame.Payload = nil, nil
	return err
}

// awaitSent blocks until n frames of the operation are sent, so that the memory
// of their payloads may change. step is the caller's.
func (x *exchange) awaitSent(n, step int) error {
	if x.eager {
		return nil
	}
	x.g.waitFor(right, step)
	ok := x.sent.await(n)
	x.g.waitFor(nobody, step)
	if !ok {
		return x.g.failure()
	}
	return nil
}

// sender is the goroutine that sends for operations which are not eager.
func (x *exchange) sender() {
	for {
		select {
		case <-x.work:
			err := x.sendAll()
			x.sent.finish()
			x.done <- err
		case <-x.g.quit:
			return
		}
	}
}

func (x *exchange) sendAll() error {
	for n := 1; x.ready.await(n); n++ {
		if err := x.next(); err != nil {
			return err
		}
		x.sent.raise(1)
	}
	return nil
}

// next fills in and sends one frame.
func (x *exchange) next() error {
	step, err := x.out.fill(&x.frame)
	if err != nil {
		return x.g.end(fmt.Errorf("ring: %v %d: %w", x.g.op.kind, x.frame.Op, err))
	}
	return x.send(step)
}

// send sends x.frame, whose payload is filled in.
func (x *exchange) send(step int) error {
	if x.eager {
		x.g.waitFor(right, step)
	}
	if err := x.g.link.Send(x.ctx, x.frame); err != nil {
		return x.g.fail(right, step, err)
	}
	if x.eager {
		x.g.waitFor(nobody, step)
	}
	x.g.progress.Add(1)
	x.g.sent.Add(int64(FrameHeaderBytes + len(x.frame.Payload)))
	x.frame.Segment++
	return nil
}

// receive returns the next frame of the operation; its payload lies in into.
func (x *exchange) receive(into []byte, step int) (Frame, error) {
	x.g.waitFor(left, step)
	f, err := x.g.link.Recv(x.ctx, into)
	if err == nil {
		err = x.check(&f)
	}
	if err != nil {
		return f, x.g.fail(left, step, err)
	}
	x.g.waitFor(nobody, step)
	x.g.progress.Add(1)
	x.received++
	return f, nil
}

// check compares f with the frame that must come next.
func (x *exchange) check(f *Frame) error {
	var what string
	var got, want uint64
	switch {
	case f.Kind != KindData:
		what, got, want = "kind", uint64(f.Kind), uint64(KindData)
	case f.Generation != x.frame.Generation:
		what, got, want = "generation", f.Generation, x.frame.Generation
	case f.Op != x.frame.Op:
		what, got, want = "operation", f.Op, x.frame.Op
	case f.Segment != x.received:
		what, got, want = "segment", uint64(f.Segment), uint64(x.received)
	case f.Stream != 0:
		what, got, want = "stream", uint64(f.Stream), 0
	case f.Codec != 0 && x.g.op.kind != opAllReduce:
		what, got, want = "codec byte", uint64(f.Codec), 0
	default:
		return nil
	}
	return fmt.Errorf("%w: %s is %d, want %d", ErrCorruptFrame, what, got, want)
}
