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
	conn   *conn
	aborts *delivery.AbortNotifier

	writing  sync.Mutex // held while a frame is written; guards the fields below
	broken   bool       // no frame may follow
	partial  bool       // TrySend has written part of a frame
	writeErr error      // error of the write that broke the connection
	head     [ring.FrameHeaderBytes]byte

	ended  chan struct{} // closed when run has ended; nil: the connection is shared
	reason error         // why; set before ended is closed
}

// send writes f, or the rest that TrySend has left, with one system call if the socket takes it
// whole. It reports whether the socket has taken the frame.
func (s *sender) send(f *ring.Frame) bool {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.broken {
		return false
	}
	var err error
	if s.partial {
		s.partial = false
		err = s.conn.finish()
	} else {
		ring.PutFrameHeader(s.head[:], f, s.conn.crc)
		err = write(s.conn, s.head[:], f.Payload)
	}
	if err != nil {
		s.fail(err)
	}
	return err == nil
}

// fail records a failed write, and bounds the wait for the neighbour's last frame, which may
// tell why. s.writing is held.
func (s *sender) fail(err error) {
	s.broken, s.writeErr = true, err
	s.conn.SetReadDeadline(time.Now().Add(reasonTimeout))
}

// run waits for the end of a connection that is not shared. Nothing but the neighbour's last
// frame comes back over it.
func (s *sender) run() {
	back := receiver{in: s.conn}
	_, err := back.next(nil)
	if err == nil {
		err = fmt.Errorf("%w: data where none come", ring.ErrCorruptFrame)
	}
	s.reason = s.end(err)
	close(s.ended)
	s.aborts.Notify(s.reason)
}

// end closes the connection, which ends a blocked write. It returns why the connection has
// ended: read is the error of its last read.
func (s *sender) end(read error) error {
	s.conn.Close()
	s.writing.Lock()
	defer s.writing.Unlock()
	s.broken = true
	return breakCause(read, s.writeErr)
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

// close writes a closing frame and closes the connection. If the stream ends inside a frame,
// close writes nothing, unless it is an abort: then the rest of the frame goes first.
func (s *sender) close(last delivery.ClosingFrame) {
	if last.Why != nil {
		s.conn.SetWriteDeadline(time.Now().Add(abortTimeout)) // bounds a write in progress, which holds writing
		s.writing.Lock()
		s.writeLast(last)
		s.writing.Unlock()
	} else if s.writing.TryLock() { // else the stream ends inside a frame
		s.writeLast(last)
		s.writing.Unlock()
	}
	s.conn.Close()
	if s.ended != nil {
		<-s.ended
	}
}

// writeLast writes a closing frame if it can. s.writing is held.
func (s *sender) writeLast(last delivery.ClosingFrame) {
	if s.broken || s.partial && (last.Why == nil || s.conn.finish() != nil) {
		return
	}
	s.broken = true // no frame may follow
	writeClosing(s.conn, last)
}

// writeClosing writes a closing frame.
func writeClosing(c *conn, last delivery.ClosingFrame) {
	c.SetWriteDeadline(time.Now().Add(goodbyeTimeout))
	_, _ = c.Write(last.Bytes(c.crc)) // the connection ends either way
}
