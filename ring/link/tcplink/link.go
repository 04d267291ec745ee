package tcplink

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// The times that the end of a link may take.
const (
	goodbyeTimeout = time.Second            // to write the goodbye behind what is not read yet
	lingerTimeout  = time.Second            // for the neighbour to acknowledge what is due
	reasonTimeout  = 100 * time.Millisecond // to hear why a write failed
	abortTimeout   = 500 * time.Millisecond // to send the rest of a frame before an abort
)

// link is a ring.Link over two connections, each used in one direction but for
// acknowledgements, or over one that is used in both. A link of one direction has one.
type link struct {
	generation uint32 // as frames have it
	to, from   ring.Worker
	out        *sender   // nil: nobody to send to
	in         *receiver // nil: nobody to receive from
	closing    sync.Once
	closed     atomic.Bool
	aborts     delivery.Hearing
}

// newLink returns the link of a route over out and in, of which one may be nil; they
// may be one and the same. It closes both in the end.
func newLink(m ring.Membership, r ring.Route, out socket, in net.Conn, c Config) *link {
	l := &link{generation: uint32(m.Generation)}
	if out != nil {
		l.to = m.Workers[r.To]
		l.out = newSender(out, c.PayloadCRC)
		l.out.aborts = &l.aborts
		l.out.sent.Receiver.Rare = !c.Repair
		if c.Repair {
			l.out.kept, l.out.redialer = newKept(), c.redialer(m, r)
		}
	}
	if in != nil {
		l.from = m.Workers[r.From]
		l.in = newReceiver(in)
		l.in.aborts = &l.aborts
		l.in.count.Rare = !c.Repair
		if c.Repair {
			l.in.rejoin = c.rejoin(m, r)
		}
	}
	if out != nil && in == net.Conn(out) {
		join(l.out, l.in)
	}
	if out != nil {
		go l.out.run()
	}
	return l
}

// Threads returns ring.LeastThreads: who sends and who receives each wait in the kernel.
func (l *link) Threads() int { return ring.LeastThreads }

// Send writes f to the socket. It panics if the payload is longer than
// ring.MaxPayloadBytes.
func (l *link) Send(ctx context.Context, f ring.Frame) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(f.Payload) > ring.MaxPayloadBytes {
		panic("tcplink: payload longer than ring.MaxPayloadBytes")
	}
	if l.out == nil {
		panic("tcplink: send on a link that only receives")
	}
	if l.closed.Load() {
		return ring.ErrClosed
	}
	err := l.out.send(&f)
	if err == nil {
		return nil
	}
	if l.closed.Load() {
		return ring.ErrClosed
	}
	return fmt.Errorf("send to %w", delivery.Fault(l.to, err))
}

// TrySend is that of a ring.PromptLink.
func (l *link) TrySend(f ring.Frame) bool {
	return l.out != nil && len(f.Payload) <= ring.MaxPayloadBytes && !l.closed.Load() && l.out.try(&f)
}

// OnIdle is that of a ring.PromptLink.
func (l *link) OnIdle(idle func(last bool)) {
	if l.in != nil {
		l.in.onIdle(idle)
	}
}

// Recv reads the next frame from the socket.
func (l *link) Recv(ctx context.Context, into []byte) (ring.Frame, error) {
	if ctx.Err() != nil {
		return ring.Frame{}, context.Cause(ctx)
	}
	if l.in == nil {
		panic("tcplink: receive on a link that only sends")
	}
	f, err := l.in.recv(into)
	if err == nil {
		return f, nil
	}
	if l.closed.Load() {
		return ring.Frame{}, ring.ErrClosed
	}
	return ring.Frame{}, fmt.Errorf("receive from %w", delivery.Fault(l.from, err))
}

// Close says goodbye to both sides and ends the link. It always returns nil, at
// once unless who receives is more than a MiB behind, without repair 16 MiB.
func (l *link) Close() error {
	l.end(delivery.Goodbye(l.generation))
	return nil
}

// Abort is that of a ring.AbortLink.
func (l *link) Abort(why *ring.Abort) error {
	l.end(delivery.Abort(why, l.generation))
	return nil
}

// OnAbort is that of a ring.AbortLink.
func (l *link) OnAbort(heard func(*ring.Abort)) { l.aborts.On(heard) }

// end ends the link with a last frame.
func (l *link) end(last delivery.Farewell) {
	l.closing.Do(func() {
		l.closed.Store(true)
		if l.out != nil && l.out.pair.stands() { // what it has to say comes first
			l.out.close(last)
			l.in.close(last)
			return
		}
		if l.in != nil {
			l.in.close(last)
		}
		if l.out != nil {
			l.out.close(last)
		}
	})
}
