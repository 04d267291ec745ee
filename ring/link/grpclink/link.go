package grpclink

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// The time limits of a shutdown.
const (
	lingerTimeout = time.Second            // wait until the neighbour has taken all frames
	reasonTimeout = 100 * time.Millisecond // read why a send failed
	abortTimeout  = 500 * time.Millisecond // send the rest of a partial frame before an abort
)

// link is a ring.Link over two streams, one for each direction, each with acknowledgements in
// reverse. A link of one direction has one stream.
type link struct {
	generation uint32 // in each frame
	to, from   ring.Worker
	out        *sender   // nil: the link does not send
	in         *receiver // nil: the link does not receive
	closing    sync.Once
	closed     atomic.Bool
	aborts     delivery.AbortNotifier
}

// newLink returns the link of a route over out and in, one of which may be nil. The link
// closes both when it ends.
func newLink(m ring.Membership, r ring.Route, out *outgoing, in *incoming, payloadCRC bool) *link {
	l := &link{generation: uint32(m.Generation)}
	if out != nil {
		l.to = m.Workers[r.To]
		l.out = &sender{out: out, payloadCRC: payloadCRC, aborts: &l.aborts, ended: make(chan struct{})}
		go l.out.readAcks()
	}
	if in != nil {
		l.from = m.Workers[r.From]
		l.in = &receiver{in: in, aborts: &l.aborts, messages: make(chan received, readAhead), quit: make(chan struct{})}
		go l.in.readAll()
	}
	return l
}

// Threads returns ring.LeastThreads: a sender and a receiver can each wait in the kernel.
func (l *link) Threads() int { return ring.LeastThreads }

// Send passes a copy of f to gRPC. It panics if the payload is longer than
// ring.MaxPayloadBytes.
func (l *link) Send(ctx context.Context, f ring.Frame) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(f.Payload) > ring.MaxPayloadBytes {
		panic("grpclink: payload longer than ring.MaxPayloadBytes")
	}
	if l.out == nil {
		panic("grpclink: send on a link that only receives")
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
	return fmt.Errorf("send to %w", delivery.NeighbourError(l.to, err))
}

// Recv reads the next frame from the stream.
func (l *link) Recv(ctx context.Context, into []byte) (ring.Frame, error) {
	if ctx.Err() != nil {
		return ring.Frame{}, context.Cause(ctx)
	}
	if l.closed.Load() {
		return ring.Frame{}, ring.ErrClosed
	}
	if l.in == nil {
		panic("grpclink: receive on a link that only sends")
	}
	f, err := l.in.recv(into)
	if err == nil {
		return f, nil
	}
	if l.closed.Load() {
		return ring.Frame{}, ring.ErrClosed
	}
	return ring.Frame{}, fmt.Errorf("receive from %w", delivery.NeighbourError(l.from, err))
}

// Close sends a goodbye to both neighbours and ends the link. It always returns nil. It
// waits only if the neighbour has more than two messages unread.
func (l *link) Close() error {
	l.end(delivery.Goodbye(l.generation))
	return nil
}

// Abort implements ring.AbortLink.
func (l *link) Abort(why *ring.Abort) error {
	l.end(delivery.Abort(why, l.generation))
	return nil
}

// OnAbort implements ring.AbortLink.
func (l *link) OnAbort(heard func(*ring.Abort)) { l.aborts.OnAbort(heard) }

// end ends the link with a closing frame.
func (l *link) end(last delivery.ClosingFrame) {
	l.closing.Do(func() {
		l.closed.Store(true)
		if l.in != nil {
			l.in.close(last)
		}
		if l.out != nil {
			l.out.close(last)
		}
	})
}
