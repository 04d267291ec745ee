package tcplink

import (
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newSocket returns c as a socket to send frames over, as it is if it is one.
func newSocket(c net.Conn) socket {
	if s, ok := c.(socket); ok {
		return s
	}
	t, ok := c.(*net.TCPConn)
	if !ok {
		return &portable{Conn: c}
	}
	calls, err := t.SyscallConn()
	if err != nil {
		return &portable{Conn: c}
	}
	s := &raw{TCPConn: t, calls: calls}
	s.some, s.all = s.writeSome, s.writeAll
	return s
}

// raw is a TCP socket that writes by a system call of its own: head and payload
// together, without an allocation. When the socket is full, finish waits in the
// runtime's poller like any other, and deadlines and Close end it.
type raw struct {
	*net.TCPConn
	calls    syscall.RawConn
	rest     vector
	writeErr error

	some, all func(fd uintptr) bool // writeSome and writeAll: a method value would be allocated each time
}

func (s *raw) begin(head, payload []byte) (bool, error) {
	s.rest.parts = [2][]byte{head, payload}
	return s.goOn()
}

func (s *raw) goOn() (bool, error) {
	err := s.calls.Write(s.some)
	if err == nil {
		err = s.writeErr
	}
	if err == unix.EAGAIN {
		return false, nil
	}
	s.rest.drop()
	return err == nil, err
}

func (s *raw) finish() error {
	err := s.calls.Write(s.all)
	s.rest.drop()
	if err == nil {
		err = s.writeErr
	}
	return err
}

// writeSome writes until all is written or the socket is full.
func (s *raw) writeSome(fd uintptr) bool {
	s.writeErr = s.rest.writeTo(fd)
	return true
}

// writeAll is writeSome, and asks to be called again where that is not all.
func (s *raw) writeAll(fd uintptr) bool {
	s.writeSome(fd)
	return s.writeErr != unix.EAGAIN
}

// vector is what of a head and a payload is still to be written.
type vector struct {
	parts [2][]byte
	vec   [2]unix.Iovec // of parts, for the kernel
	small [smallBytes]byte
}

// smallBytes is up to how much is joined before it is written: send(2) of one piece
// of memory takes a shorter way through the kernel than writev(2), which is more
// than the copy costs.
const smallBytes = 1 << 10

// drop lets go of the frame.
func (v *vector) drop() { v.parts = [2][]byte{} }

// writeTo writes until all is written, or the socket is full: then unix.EAGAIN.
func (v *vector) writeTo(fd uintptr) error {
	for len(v.parts[0])+len(v.parts[1]) > 0 {
		n, err := v.writeNow(fd)
		if err != nil && err != unix.EINTR {
			return err
		}
		head := min(n, len(v.parts[0]))
		v.parts[0], v.parts[1] = v.parts[0][head:], v.parts[1][n-head:]
	}
	return nil
}

// writeNow is send(2) or writev(2) of parts, in the manner of readNow.
func (v *vector) writeNow(fd uintptr) (int, error) {
	if len(v.parts[0])+len(v.parts[1]) <= len(v.small) {
		n := copy(v.small[:], v.parts[0])
		n += copy(v.small[n:], v.parts[1])
		sent, _, errno := unix.RawSyscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&v.small)), uintptr(n), unix.MSG_NOSIGNAL, 0, 0)
		if errno != 0 {
			return 0, errno
		}
		return int(sent), nil
	}
	for i, p := range v.parts {
		v.vec[i].Base = unsafe.SliceData(p)
		v.vec[i].SetLen(len(p))
	}
	n, _, errno := unix.RawSyscall(unix.SYS_WRITEV, fd, uintptr(unsafe.Pointer(&v.vec)), uintptr(len(v.vec)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}
