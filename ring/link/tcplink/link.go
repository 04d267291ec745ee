package tcplink

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// The time limits of a shutdown.
const (
	goodbyeTimeout = time.Second            // write the goodbye behind unread bytes
	reasonTimeout  = 100 * time.Millisecond // read why a write failed
	abortTimeout   = 500 * time.Millisecond // send the rest of a partial frame before an abort
)

// link is a ring.Link. It has a connection for each direction, or one shared connection. A
// link of one direction has one half only.
type link struct {
	generation uint32 // in each frame
	self       ring.Worker
	to, from   ring.Worker
	out        *sender   // nil: the link does not send
	in         *receiver // nil: the link does not receive
	closing    sync.Once
	closed     atomic.Bool
	aborts     delivery.AbortNotifier
}

// newLink returns the link of a route over out and in. One of the two may be nil, and both
// may be the same connection. The link closes them when it ends.
func newLink(m ring.Membership, r ring.Route, out, in *conn) *link {
	l := &link{generation: uint32(m.Generation), self: m.Self()}
	if out != nil {
		l.to = m.Workers[r.To]
		l.out = &sender{conn: out, aborts: &l.aborts}
	}
	if in != nil {
		l.from = m.Workers[r.From]
		l.in = &receiver{in: in, aborts: &l.aborts}
	}
	if out != nil && in == out {
		l.in.out = l.out
	} else if out != nil {
		l.out.ended = make(chan struct{})
		go l.out.run()
	}
	return l
}

// Facts asks for ring.LeastThreads: a sender and a receiver can each wait in the kernel.
func (l *link) Facts() ring.LinkFacts {
	return ring.LinkFacts{Threads: ring.LeastThreads, TLS: l.out != nil && l.out.conn.tls}
}

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
	if l.out.send(&f) {
		return nil
	}
	err := l.sendError()
	if l.closed.Load() {
		return ring.ErrClosed
	}
	return delivery.FrameError(l.self, l.to, l.to, err)
}

// sendError returns why the connection has ended over which a send has failed.
func (l *link) sendError() error {
	if l.isShared() {
		return l.in.endReason()
	}
	<-l.out.ended
	return l.out.reason
}

// isShared reports whether both halves have the same connection.
func (l *link) isShared() bool { return l.in != nil && l.in.out != nil }

// TrySend implements ring.Link. If a frame is partly written it continues with its rest.
func (l *link) TrySend(f ring.Frame) (whole bool) {
	s := l.out
	if s == nil || len(f.Payload) > ring.MaxPayloadBytes || l.closed.Load() || !s.writing.TryLock() {
		return false
	}
	defer s.writing.Unlock()
	var err error
	switch {
	case s.broken:
		return false
	case s.partial:
		whole, err = s.conn.resume()
	default:
		ring.PutFrameHeader(s.head[:], &f, s.conn.crc)
		whole, err = s.conn.begin(s.head[:], f.Payload)
	}
	if err != nil {
		s.fail(err)
	}
	s.partial = !whole
	return whole
}

// Notify implements ring.Link.
func (l *link) Notify(idle func(last bool), aborted func(*ring.Abort)) {
	if l.in != nil {
		l.in.idle.attach(l.in.in, idle)
	}
	l.aborts.OnAbort(aborted)
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
	return ring.Frame{}, delivery.FrameError(l.from, l.self, l.from, err)
}

// Close sends a goodbye to both neighbours and ends the link. It always returns nil.
func (l *link) Close() error {
	l.end(delivery.ClosingFrame{Generation: l.generation})
	return nil
}

// Abort implements ring.Link.
func (l *link) Abort(why *ring.Abort) error {
	l.end(delivery.ClosingFrame{Generation: l.generation, Why: why})
	return nil
}

// end ends the link with a closing frame. The sender writes that of a shared connection.
func (l *link) end(last delivery.ClosingFrame) {
	l.closing.Do(func() {
		l.closed.Store(true)
		if l.in != nil && !l.isShared() {
			l.in.close(last)
		}
		if l.out != nil {
			l.out.close(last)
		}
	})
}
