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

// The times that the end of a link may take.
const (
	lingerTimeout = 2 * time.Second        // for the neighbour to take what was sent
	reasonTimeout = 100 * time.Millisecond // to hear why a frame was not sent
)

// link is a ring.Link over two streams, each used in one direction but for
// acknowledgements.
type link struct {
	membership ring.Membership
	closing    sync.Once
	closed     atomic.Bool
	sender
	receiver
}

func newLink(m ring.Membership, out *outgoing, in *incoming, payloadCRC bool) *link {
	l := &link{membership: m}
	l.sender = sender{out: out, payloadCRC: payloadCRC, ended: make(chan struct{})}
	l.receiver = receiver{in: in, arrivals: make(chan arrival, readAhead), quit: make(chan struct{})}
	go l.readAcks()
	go l.readAll()
	return l
}

// Send hands a copy of f to gRPC. It panics if the payload is longer than
// ring.MaxPayloadBytes.
func (l *link) Send(ctx context.Context, f ring.Frame) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(f.Payload) > ring.MaxPayloadBytes {
		panic("grpclink: payload longer than ring.MaxPayloadBytes")
	}
	if l.closed.Load() {
		return ring.ErrClosed
	}
	err := l.send(&f)
	if err == nil {
		return nil
	}
	if l.closed.Load() {
		return ring.ErrClosed
	}
	return fmt.Errorf("send to %w", delivery.Fault(l.membership.Right(), err))
}

// Recv reads the next frame from the stream.
func (l *link) Recv(ctx context.Context, into []byte) (ring.Frame, error) {
	if ctx.Err() != nil {
		return ring.Frame{}, context.Cause(ctx)
	}
	if l.closed.Load() {
		return ring.Frame{}, ring.ErrClosed
	}
	f, err := l.recv(into)
	if err == nil {
		return f, nil
	}
	if l.closed.Load() {
		return ring.Frame{}, ring.ErrClosed
	}
	return ring.Frame{}, fmt.Errorf("receive from %w", delivery.Fault(l.membership.Left(), err))
}

// Close says goodbye to both neighbours and ends the link. It always returns
// nil, at once unless the right neighbour is more than two messages behind.
func (l *link) Close() error {
	l.closing.Do(func() {
		l.closed.Store(true)
		l.receiver.close(l.membership.Generation)
		l.sender.close(l.membership.Generation)
	})
	return nil
}
