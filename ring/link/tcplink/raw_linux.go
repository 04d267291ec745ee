package tcplink

import (
	"io"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// newSocket returns c as a socket whose reads try up to so many times more before
// they sleep.
func newSocket(c net.Conn, tries int) socket {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return &portable{Conn: c}
	}
	calls, err := t.SyscallConn()
	if err != nil {
		return &portable{Conn: c}
	}
	s := &raw{TCPConn: t, calls: calls, spin: spin{most: tries}}
	s.tryRead, s.tryWrite = s.readNow, s.writeNow
	return s
}

// raw is a TCP socket with system calls of its own. It differs from package
// net in what happens when there is nothing to read: a neighbour of a ring
// answers within microseconds, about as long as it takes to put a goroutine and
// its thread to sleep and to wake them up again. So a read tries again for a
// while; then it waits in the runtime's poller like any other, and deadlines
// and Close end it. Between two tries it yields: the neighbour may be waiting
// for this very core.
//
// Reads of more than a header's worth do not spin, nor do writes: where
// megabytes are under way, the core is better used by the other direction.
type raw struct {
	*net.TCPConn
	calls syscall.RawConn
	spin  spin

	// The running read.
	into    []byte
	got     int
	readErr error
	tryRead func(fd uintptr) bool // readNow: a method value would be allocated each time

	// The running send.
	parts    [2][]byte // what is still to be written
	writeErr error
	tryWrite func(fd uintptr) bool // writeNow
}

// Read is that of net.Conn.
func (s *raw) Read(p []byte) (int, error) {
	s.into = p
	err := s.calls.Read(s.tryRead)
	s.into = nil
	switch {
	case err != nil: // a deadline, or Close
		return 0, err
	case s.readErr != nil:
		return 0, s.readErr
	case s.got == 0 && len(p) > 0:
		return 0, io.EOF
	}
	return s.got, nil
}

// readNow reads if there is something to read, soon; else false.
func (s *raw) readNow(fd uintptr) bool {
	if s.read(fd) {
		return true
	}
	if len(s.into) > readAhead {
		return false
	}
	for range s.spin.tries() {
		unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0) // never fails
		if s.read(fd) {
			s.spin.paid()
			return true
		}
	}
	s.spin.failed()
	return false
}

// read makes one try; it tells whether there is something to read.
func (s *raw) read(fd uintptr) bool {
	for {
		s.got, s.readErr = unix.Read(int(fd), s.into)
		if s.readErr != unix.EINTR {
			return s.readErr != unix.EAGAIN
		}
	}
}

func (s *raw) send(head, payload []byte) error {
	s.parts = [2][]byte{head, payload}
	err := s.calls.Write(s.tryWrite)
	s.parts = [2][]byte{}
	if err == nil {
		err = s.writeErr
	}
	return err
}

// writeNow writes until all is written or the socket is full; then false.
func (s *raw) writeNow(fd uintptr) bool {
	for len(s.parts[0])+len(s.parts[1]) > 0 {
		var n int
		n, s.writeErr = unix.Writev(int(fd), s.parts[:])
		switch s.writeErr {
		case nil:
			s.written(n)
		case unix.EINTR:
		case unix.EAGAIN:
			return false
		default:
			return true
		}
	}
	return true
}

// written takes n bytes off parts.
func (s *raw) written(n int) {
	head := min(n, len(s.parts[0]))
	s.parts[0], s.parts[1] = s.parts[0][head:], s.parts[1][n-head:]
}
