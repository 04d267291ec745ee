package port

import (
	"net"
	"os"
	"sync"
	"time"
)

// maxQueued is the maximal number of unaccepted connections of a kind, like a socket's
// backlog.
const maxQueued = 128

// queue is a net.Listener of connections that put has added.
type queue struct {
	addr  net.Addr
	conns chan net.Conn // sends hold mu, so that Close can empty it for good
	done  chan struct{} // closed by Close

	mu       sync.Mutex
	closed   bool
	timer    *time.Timer   // of the deadline, or nil
	deadline chan struct{} // closed when the deadline passes; SetDeadline replaces it
}

func newQueue(addr net.Addr) *queue {
	return &queue{
		addr:     addr,
		conns:    make(chan net.Conn, maxQueued),
		done:     make(chan struct{}),
		deadline: make(chan struct{}),
	}
}

// put adds c for a later Accept, or closes it if the queue is full or closed.
func (q *queue) put(c net.Conn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		select {
		case q.conns <- c:
			return
		default:
		}
	}
	c.Close()
}

func (q *queue) Accept() (net.Conn, error) {
	q.mu.Lock()
	deadline := q.deadline
	q.mu.Unlock()
	select {
	case <-q.done:
		return nil, net.ErrClosed
	case <-deadline:
		return nil, os.ErrDeadlineExceeded
	default:
	}
	select {
	case c := <-q.conns:
		return c, nil
	case <-q.done:
		return nil, net.ErrClosed
	case <-deadline:
		return nil, os.ErrDeadlineExceeded
	}
}

// SetDeadline makes pending and future calls of Accept return
// os.ErrDeadlineExceeded once t has passed. The zero time means never.
func (q *queue) SetDeadline(t time.Time) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.timer != nil && !q.timer.Stop() {
		<-q.deadline // the timer has fired: wait for its function
	}
	q.timer = nil
	select {
	case <-q.deadline:
		q.deadline = make(chan struct{})
	default:
	}
	if t.IsZero() {
		return nil
	}
	passed := q.deadline
	if until := time.Until(t); until > 0 {
		q.timer = time.AfterFunc(until, func() { close(passed) })
	} else {
		close(passed)
	}
	return nil
}

// Close closes the connections in the queue and all later ones.
func (q *queue) Close() error {
	q.SetDeadline(time.Time{}) // no timer outlives the queue
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return nil
	}
	q.closed = true
	close(q.done)
	for {
		select {
		case c := <-q.conns:
			c.Close()
		default:
			return nil
		}
	}
}

func (q *queue) Addr() net.Addr { return q.addr }
