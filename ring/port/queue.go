package port

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"ringtrain/ring/token"
)

// Queue has the proved connections of a port that wait for their owner. They hold no seat: the goroutine
// of each waits with it.
type Queue struct {
	addr    net.Addr
	source  net.Listener // that the queue owns; nil: the port's
	conns   chan *token.Conn
	opened  atomic.Bool // somebody accepts
	closed  chan struct{}
	closing sync.Once
}

func newQueue(addr net.Addr) *Queue {
	return &Queue{addr: addr, conns: make(chan *token.Conn), closed: make(chan struct{})}
}

// open makes q take connections.
func (q *Queue) open() *Queue {
	q.opened.Store(true)
	return q
}

// accepts reports whether somebody takes connections.
func (q *Queue) accepts() bool {
	select {
	case <-q.closed:
		return false
	default:
		return q.opened.Load()
	}
}

// put waits until c is taken, and reports whether somebody takes connections. It closes c if q is closed
// before.
func (q *Queue) put(c *token.Conn) bool {
	if !q.accepts() {
		return false
	}
	select {
	case q.conns <- c:
	case <-q.closed:
		c.Close()
	}
	return true
}

// Take returns the next connection. It returns the cause of ctx if ctx ends first, and net.ErrClosed
// after Close.
func (q *Queue) Take(ctx context.Context) (*token.Conn, error) {
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Accept is Take without an end, for gRPC. The result is a *token.Conn.
func (q *Queue) Accept() (net.Conn, error) {
	c, err := q.Take(context.Background())
	if err != nil {
		return nil, err // and no *token.Conn
	}
	return c, nil
}

// Close closes the connections in q; later ones are refused.
func (q *Queue) Close() error {
	q.closing.Do(func() {
		close(q.closed)
		if q.source != nil {
			q.source.Close()
		}
	})
	return nil
}

// Addr returns the address of the port.
func (q *Queue) Addr() net.Addr { return q.addr }

// answer accepts the request of c and puts c, if somebody takes connections.
func (q *Queue) answer(c *token.Conn) bool {
	if !q.accepts() {
		return false
	}
	if c.Answer(token.Answer{}) != nil || c.SetDeadline(time.Time{}) != nil || !q.put(c) {
		c.Close()
	}
	return true
}
