package port

import (
	"context"
	"net"
	"sync"
	"time"

	"ringtrain/ring/token"
)

// Queue has the proved connections of a port that wait for their owner. They hold no seat.
type Queue struct {
	addr   net.Addr
	source net.Listener // that the queue owns; nil: the port's

	mu     sync.Mutex
	conns  []*token.Conn
	more   chan struct{} // has room for one: conns is not empty
	closed chan struct{}
	opened bool // somebody accepts
}

func newQueue(addr net.Addr) *Queue {
	return &Queue{addr: addr, more: make(chan struct{}, 1), closed: make(chan struct{})}
}

// open makes q take connections.
func (q *Queue) open() *Queue {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.opened = true
	return q
}

// put adds c, and reports whether somebody will take it.
func (q *Queue) put(c *token.Conn) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.isClosed() || !q.opened {
		return false
	}
	q.conns = append(q.conns, c)
	q.wake()
	return true
}

func (q *Queue) wake() {
	select {
	case q.more <- struct{}{}:
	default:
	}
}

func (q *Queue) isClosed() bool {
	select {
	case <-q.closed:
		return true
	default:
		return false
	}
}

// Take returns the next connection. It returns the cause of ctx if ctx ends first, and net.ErrClosed
// after Close.
func (q *Queue) Take(ctx context.Context) (*token.Conn, error) {
	for {
		if c := q.next(); c != nil {
			return c, nil
		}
		select {
		case <-q.more:
		case <-q.closed:
			return nil, net.ErrClosed
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// next returns the first connection, or nil. It wakes another Take if there are more.
func (q *Queue) next() *token.Conn {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.conns) == 0 {
		return nil
	}
	c := q.conns[0]
	q.conns = q.conns[1:]
	if len(q.conns) > 0 {
		q.wake()
	}
	return c
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
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.isClosed() {
		close(q.closed)
		if q.source != nil {
			q.source.Close()
		}
	}
	for _, c := range q.conns {
		c.Close()
	}
	q.conns = nil
	return nil
}

// Addr returns the address of the port.
func (q *Queue) Addr() net.Addr { return q.addr }

// answer accepts the request of c and adds c, if somebody will take it.
func (q *Queue) answer(c *token.Conn) bool {
	q.mu.Lock()
	refused := q.isClosed() || !q.opened
	q.mu.Unlock()
	if refused {
		return false
	}
	if c.Answer(token.Answer{}) != nil || c.SetDeadline(time.Time{}) != nil || !q.put(c) {
		c.Close()
	}
	return true
}
