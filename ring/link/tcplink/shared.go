package tcplink

import (
	"cmp"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/internal/delivery"
	"ringtrain/ring/link/internal/handshake"
)

// isShared reports whether the link of r begins with one connection for both directions.
// Data packets then carry the TCP acknowledgements, which else need packets of their own.
func isShared(r ring.Route) bool { return r.Shared && r.To == r.From && r.To >= 0 }

// dialSide returns the part of r that worker me dials or accepts: the lower rank dials a shared connection.
func dialSide(me int, r ring.Route) ring.Route {
	switch {
	case !isShared(r):
	case me < r.To:
		r.From = -1
	default:
		r.To = -1
	}
	return r
}

// sharedConn is one connection for both halves of a link, until it breaks. The sender
// writes all frames. The receiver reads all frames and passes acknowledgements to the
// sender. The sender's goroutine reads only while the sender waits for an acknowledgement
// and no receive is in progress. After a break each half has a connection of its own.
type sharedConn struct {
	sender     *sender
	receiver   *receiver
	wakeup     chan struct{} // of capacity 1: wakes serve after a change of the fields below
	readWanted atomic.Bool   // the sender waits for an acknowledgement
	closing    atomic.Bool   // no receive will follow
	opened     time.Time

	mu          sync.Mutex   // guards the fields below
	pendingAcks []ring.Frame // acknowledgements to write
	deadline    time.Time    // of the last reads before shutdown; zero: none
	cause       error        // why the connection has ended
}

// shareConn joins the halves of a link that share a connection.
func shareConn(s *sender, r *receiver) {
	p := &sharedConn{sender: s, receiver: r, wakeup: make(chan struct{}, 1), opened: time.Now()}
	s.shared, r.shared, r.inShared = p, p, true
	if s.unacked != nil {
		s.unacked.onBlock = p.requestRead
	}
}

// active reports whether the connection serves both halves. A nil sharedConn does not.
func (p *sharedConn) active() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cause == nil
}

// fail records why the connection has ended, unless a cause is recorded, and wakes serve. It
// returns the first cause.
func (p *sharedConn) fail(why error) error {
	if p == nil {
		return why
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause == nil {
		p.cause = why
		p.wake()
	}
	return p.cause
}

// failRead is fail with the error of a read. If this side has closed the connection, err
// says nothing, and failRead returns the first cause.
func (p *sharedConn) failRead(err error) error {
	if first := p.fail(err); errors.Is(err, net.ErrClosed) {
		return first
	}
	return err
}

// queueAck makes the sender's goroutine write an acknowledgement. It does not block: two
// receivers that wait for their senders would block each other over the network.
func (p *sharedConn) queueAck(ack ring.Frame) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pendingAcks = append(p.pendingAcks, ack) // at most one for each delivery.AckBytes
	p.wake()
}

// requestRead makes serve read acknowledgements when no receive is in progress.
func (p *sharedConn) requestRead() {
	p.readWanted.Store(true)
	p.wake()
}

// readUntil makes serve return at the given time, or earlier with the neighbour's last frame.
func (p *sharedConn) readUntil(until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deadline = until
	p.requestRead()
}

// afterRecv is called after each receive. It wakes serve if the sender waits for an acknowledgement.
func (p *sharedConn) afterRecv() {
	if p != nil && p.readWanted.Load() {
		p.wake()
	}
}

// wake wakes serve.
func (p *sharedConn) wake() {
	select {
	case p.wakeup <- struct{}{}:
	default:
	}
}

// serve runs on the sender's goroutine while the connection serves both halves. It returns
// why the connection has ended.
func (p *sharedConn) serve() error {
	var acks []ring.Frame
	for {
		<-p.wakeup
		p.mu.Lock()
		acks = append(acks[:0], p.pendingAcks...)
		until, why := p.deadline, p.cause
		p.pendingAcks = p.pendingAcks[:0]
		p.mu.Unlock()
		if why != nil {
			return why
		}
		for i := range acks {
			p.sender.acknowledge(&acks[i])
		}
		if p.readWanted.Load() {
			if err := p.read(until); err != nil {
				return err
			}
		}
	}
}

// read reads acknowledgements as long as the sender waits for them, or until a time that is
// not zero. It returns at once if a receive is in progress, since the receive reads them
// and calls afterRecv. A data frame may stand before the acknowledgement, and the worker may
// receive it only after its send: the send then exceeds the bound. read records the cause of an end before it unlocks reading: the next
// reader would find a less precise error.
func (p *sharedConn) read(until time.Time) (err error) {
	r := p.receiver
	if !r.reading.TryLock() {
		return nil
	}
	defer r.reading.Unlock()
	defer func() {
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			err = p.failRead(err)
		}
	}()
	if !p.active() { // serve returns the cause; the receiver may have a replacement
		return nil
	}
	ending := !until.IsZero()
	if ending {
		p.sender.conn.SetReadDeadline(until)
	}
	for ending || p.sender.unacked.isBlocked() {
		kind, err := r.frames.peek()
		switch {
		case err != nil:
			return err
		case kind == ring.KindData && p.closing.Load():
			_, err := io.Copy(io.Discard, p.sender.conn.socket) // unread bytes would cause a reset, which loses frames in flight
			return cmp.Or(err, io.EOF)
		case kind == ring.KindData && ending:
			return os.ErrDeadlineExceeded // the neighbour has sent no last frame; the data frame stays unread, so none is lost
		case kind == ring.KindData: // a receive takes the frame
			p.sender.unacked.exceed()
			return nil
		}
		if err := p.readControl(); err != nil {
			return err
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.readWanted.Store(!p.deadline.IsZero())
	if p.sender.unacked.isBlocked() { // it may have blocked since the last check
		p.requestRead()
	}
	return nil
}

// readControl reads a frame without payload.
func (p *sharedConn) readControl() error {
	f, err := p.receiver.frames.next(nil)
	switch {
	case err != nil:
		return err
	case f.Kind == ring.KindClose:
		return delivery.ErrGoodbye
	}
	return p.handleAck(&f)
}

// handleAck records an acknowledgement that has arrived. It ignores one after the end: the
// receiver acknowledges repeated frames again.
func (p *sharedConn) handleAck(f *ring.Frame) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause != nil {
		return nil
	}
	return p.sender.handleAck(f)
}

// stillOpening reports whether a refusal may come from a neighbour that is still opening its
// links. Such a neighbour missed the end of the handshake and dials again, which this side
// takes for a reconnect.
func (p *sharedConn) stillOpening(err error) bool {
	if p == nil || !errors.Is(err, handshake.ErrRefused) || time.Since(p.opened) > dialTimeout+handshakeTimeout {
		return false
	}
	if exitcode.Of(err) == exitcode.Protocol {
		return false
	}
	p.receiver.mu.Lock()
	defer p.receiver.mu.Unlock()
	return p.receiver.next == delivery.Position{} // no frame has arrived yet
}

// sharedSocket returns conn, after its handshake, as a connection for frames in both directions.
func (c Config) sharedSocket(conn net.Conn) socket {
	return newSocket(c.readConn(conn))
}
