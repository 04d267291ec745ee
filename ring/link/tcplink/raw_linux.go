package tcplink

import (
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newSocket returns c as a socket to send frames over.
func newSocket(c net.Conn) socket {
	t, ok := c.(*net.TCPConn)
	if !ok {
		return &portable{Conn: c}
	}
	calls, err := t.SyscallConn()
	if err != nil {
		return &portable{Conn: c}
	}
	s := &raw{TCPConn: t, calls: calls}
	s.tryWrite = s.writeNow
	return s
}

// raw is a TCP socket that writes by a system call of its own: head and payload
// together, without an allocation. When the socket is full it waits in the
// runtime's poller like any other, and deadlines and Close end it.
type raw struct {
	*net.TCPConn
	calls    syscall.RawConn
	parts    [2][]byte     // what is still to be written
	vec      [2]unix.Iovec // of parts, for the kernel
	writeErr error
	tryWrite func(fd uintptr) bool // writeNow: a method value would be allocated each time
}

func (s *raw) send(head, payload []byte) error {
	s.parts = [2][]byte{head, payload}
	err := s.calls.Write(s.tryWrite)
	s.parts, s.vec = [2][]byte{}, [2]unix.Iovec{}
	if err == nil {
		err = s.writeErr
	}
	return err
}

// writeNow writes until all is written or the socket is full; then false.
func (s *raw) writeNow(fd uintptr) bool {
	for len(s.parts[0])+len(s.parts[1]) > 0 {
		var n int
		n, s.writeErr = s.writevNow(fd)
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

// writevNow is writev(2) of parts, in the manner of readNow. Its vector is s.vec.
func (s *raw) writevNow(fd uintptr) (int, error) {
	for i, p := range s.parts {
		s.vec[i].Base = unsafe.SliceData(p)
		s.vec[i].SetLen(len(p))
	}
	n, _, errno := unix.RawSyscall(unix.SYS_WRITEV, fd, uintptr(unsafe.Pointer(&s.vec)), uintptr(len(s.vec)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
