package tcplink

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// sender is the sending half of a link.
type sender struct {
	conn       sendConn
	payloadCRC bool
	sent       delivery.AckTracker
	unacked    *unackedBuffer // nil: the link ends with its connection
	redialer   *redialer      // nil if and only if unacked is nil
	shared     *sharedConn    // nil: the connection is not shared
	aborts     *delivery.AbortNotifier

	writing      sync.Mutex // held while a frame is written; guards the fields below
	stateChanged sync.Cond  // on writing: broken or finished has changed
	broken       bool       // the connection ends inside a frame or takes no more: no frame may follow
	finished     bool       // no replacement of the connection will come
	partial      bool       // try has written part of a frame; only the sending goroutine changes it
	writeErr     error      // error of the write that broke the connection
	head         [ring.FrameHeaderBytes]byte

	ended  chan struct{} // closed when no acknowledgement can come any more and the connection is closed
	reason error         // set before ended is closed
}

func newSender(out socket, payloadCRC bool) *sender {
	s := &sender{payloadCRC: payloadCRC, ended: make(chan struct{})}
	s.conn.socket = out
	s.stateChanged.L = &s.writing
	return s
}

// sendConn is the connection of a sender. It is replaced while sender.writing is held.
type sendConn struct {
	mu     sync.Mutex
	closed bool
	socket
}

// replace sets another connection and reports whether it has: not if l is closed.
func (l *sendConn) replace(s socket) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.socket = s
	}
	return !l.closed
}

// setWriteDeadline ends a blocked write at the given time.
func (l *sendConn) setWriteDeadline(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.socket.SetWriteDeadline(until)
}

// close closes the connection and prevents a replacement.
func (l *sendConn) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	l.socket.Close()
}

// send writes f, or the rest that try has left, with one system call if the socket takes it
// whole. With Config.Repair a nil result guarantees delivery even if the connection broke
// during the write: unacked has a copy.
func (s *sender) send(f *ring.Frame) error {
	if s.partial {
		return s.finishFrame()
	}
	if s.isRetained(f) && !s.unacked.reserve(ring.FrameHeaderBytes+len(f.Payload)) {
		<-s.ended
		return s.reason
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if !s.awaitConn() {
		return s.reason
	}
	s.record(f)
	return s.afterWrite(write(s.conn.socket, s.head[:], f.Payload))
}

// try writes as much of f as it can without blocking and reports whether all is written. If
// a frame is partly written, try continues with its rest.
func (s *sender) try(f *ring.Frame) bool {
	if !s.writing.TryLock() {
		return false
	}
	defer s.writing.Unlock()
	var whole bool
	var err error
	switch {
	case s.broken || s.finished:
		return false
	case s.partial:
		whole, err = s.conn.resume()
	case s.isRetained(f) && !s.unacked.tryReserve(ring.FrameHeaderBytes+len(f.Payload)):
		return false
	default:
		s.record(f)
		whole, err = s.conn.begin(s.head[:], f.Payload)
	}
	if err != nil {
		s.writeFailed(err)
	}
	s.partial = !whole
	return whole
}

// finishFrame writes the rest that try has left. After a reconnect there is no rest, since
// rewind has sent the frame again.
func (s *sender) finishFrame() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	s.partial = false
	if !s.awaitConn() {
		return s.reason
	}
	return s.afterWrite(s.conn.finish())
}

// isRetained reports whether unacked keeps a copy of f.
func (s *sender) isRetained(f *ring.Frame) bool { return s.unacked != nil && f.Kind == ring.KindData }

// record builds the header of f in s.head and records f in sent and unacked before it is
// written. s.writing is held.
func (s *sender) record(f *ring.Frame) {
	ring.PutFrameHeader(s.head[:], f, s.payloadCRC)
	if f.Kind != ring.KindData {
		return
	}
	due := s.sent.Add(f)
	if s.unacked != nil {
		s.unacked.add(delivery.At(f), s.head[:], f.Payload, due)
	}
}

// afterWrite returns why the link has ended if the write failed for good, or nil. s.writing is held.
func (s *sender) afterWrite(err error) error {
	if err == nil {
		return nil
	}
	s.writeFailed(err)
	if !s.awaitConn() {
		return s.reason
	}
	return nil
}

// awaitConn waits while the connection is broken and reports whether there is a usable one.
// s.writing is held on entry and return, and released while awaitConn waits.
func (s *sender) awaitConn() bool {
	for s.broken && !s.finished {
		s.stateChanged.Wait()
	}
	return !s.finished
}

// run reads acknowledgements, or serves the shared connection, until the link ends. It also
// repairs the connection, even if no send is in progress: frames already sent may be lost.
func (s *sender) run() {
	listen := s.readAcks
	if s.shared != nil {
		listen = s.shared.serve
	}
	for {
		err := listen()
		listen = s.readAcks
		s.conn.socket.Close() // ends a blocked write
		s.writing.Lock()
		s.broken = true
		err, s.writeErr = breakCause(err, s.writeErr), nil
		s.writing.Unlock()
		s.shared.fail(err)
		if err = s.repair(err); err != nil {
			s.end(err)
			s.aborts.Notify(err)
			return
		}
	}
}

// breakCause returns why a connection has broken, from the errors of its reads and writes.
// The neighbour's last words say more than the error of a write. But the kernel reports a
// reset only once, to a read or to a write.
func breakCause(read, write error) error {
	switch silent := errors.Is(read, os.ErrDeadlineExceeded); {
	case write == nil:
		return read
	case !silent && (errors.Is(write, net.ErrClosed) || errors.Is(write, syscall.EPIPE)):
		return read // the write error only says that the connection had ended
	case silent || read == io.EOF:
		return write // the neighbour has given no reason
	}
	return read
}

// end ends the sender and wakes all waiting calls.
func (s *sender) end(reason error) {
	s.writing.Lock()
	s.finished, s.reason = true, reason
	s.stateChanged.Broadcast()
	s.writing.Unlock()
	close(s.ended)
	if s.unacked != nil {
		s.unacked.close()
	}
}

// readUntil makes run end at the given time, or earlier with the neighbour's last frame.
func (s *sender) readUntil(until time.Time) {
	if s.shared.active() {
		s.shared.readUntil(until)
	} else {
		s.conn.SetReadDeadline(until)
	}
}

// readAcks reads acknowledgements until the stream ends or another kind of frame arrives.
func (s *sender) readAcks() error {
	r := reader{src: s.conn.socket}
	for {
		f, err := r.next(nil)
		switch {
		case err != nil:
			return err
		case f.Kind == ring.KindClose:
			return delivery.ErrGoodbye
		case f.Kind != ring.KindAck:
			return fmt.Errorf("%w: kind %d where acknowledgements come", ring.ErrCorruptFrame, f.Kind)
		}
		if err := s.handleAck(&f); err != nil {
			return err
		}
	}
}

// handleAck records an acknowledgement that has arrived.
func (s *sender) handleAck(f *ring.Frame) error {
	if err := s.sent.Ack(f); err != nil {
		return err
	}
	if s.unacked != nil {
		return s.unacked.drop(delivery.At(f))
	}
	return nil
}

// acknowledge writes an acknowledgement for the receiver of a shared connection.
func (s *sender) acknowledge(f *ring.Frame) {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.broken {
		return
	}
	err := s.conn.finish() // the frame that try has partly written
	if err == nil {
		ring.PutFrameHeader(s.head[:], f, false)
		err = write(s.conn.socket, s.head[:], nil)
	}
	if err != nil {
		s.writeFailed(err)
	}
}

// writeFailed records a failed write and bounds the wait for its reason: a reader may see no error at all.
func (s *sender) writeFailed(err error) {
	s.broken, s.writeErr = true, err
	s.readUntil(time.Now().Add(reasonTimeout)) // the neighbour's reason
	if s.shared.active() {
		broken := s.conn.socket
		time.AfterFunc(2*reasonTimeout, func() { s.shared.fail(err); broken.Close() })
	}
}

// atFrameEnd reports whether the stream is at the end of a frame and no write is in progress.
func (s *sender) atFrameEnd() bool {
	if !s.writing.TryLock() {
		return false
	}
	defer s.writing.Unlock()
	return !s.broken && !s.partial && (s.unacked == nil || !s.unacked.hasReservation())
}

// close writes a closing frame and closes the connection once all due acknowledgements have
// come. If the stream ends inside a frame, close writes nothing, unless the closing frame
// says that the rest of the frame goes first.
func (s *sender) close(last delivery.ClosingFrame) {
	if s.redialer != nil {
		s.redialer.stop()
	}
	if last.FinishPartial {
		s.conn.setWriteDeadline(time.Now().Add(abortTimeout)) // bounds a write in progress, which holds writing
		s.writing.Lock()
		s.writeLast(last)
	} else if s.atFrameEnd() && s.writing.TryLock() {
		s.writeLast(last)
	}
	s.conn.close()
	s.shared.fail(net.ErrClosed)
	<-s.ended
}

// writeLast writes a closing frame if the stream is at the end of a frame, and waits for
// the acknowledgements that are due. s.writing is held on entry; writeLast unlocks it.
func (s *sender) writeLast(last delivery.ClosingFrame) {
	said := !last.Incomplete && !s.broken && (!s.partial || last.FinishPartial && s.conn.finish() == nil) && writeClosing(s.conn.socket, last)
	s.broken = true // no frame may follow
	if said {
		if s.shared != nil {
			s.shared.closing.Store(true)
		}
		s.readUntil(time.Now().Add(lingerTimeout))
	}
	s.writing.Unlock()
	if said {
		select {
		case <-s.sent.AllAcked():
		case <-s.ended:
		case <-time.After(lingerTimeout): // a receive without frames holds the shared connection
		}
	}
}

// writeClosing writes a closing frame and reports whether it was written.
func writeClosing(c net.Conn, last delivery.ClosingFrame) bool {
	c.SetWriteDeadline(time.Now().Add(goodbyeTimeout))
	_, err := c.Write(last.Bytes)
	return err == nil
}
