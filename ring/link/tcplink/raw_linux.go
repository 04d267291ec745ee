package tcplink

import (
	"net"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newSocket returns c as a socket to send frames over. It returns c itself if c is a socket.
func newSocket(c net.Conn) socket {
	if s, ok := c.(socket); ok {
		return s
	}
	t, ok := c.(*net.TCPConn)
	if !ok {
		return &portableSocket{Conn: c}
	}
	calls, err := t.SyscallConn()
	if err != nil {
		return &portableSocket{Conn: c}
	}
	s := &rawSocket{TCPConn: t, calls: calls}
	s.some, s.all = s.writeSome, s.writeAll
	return s
}

// rawSocket is a TCP socket that writes head and payload with one system call and without
// an allocation. When the socket is full, finish waits in the runtime's poller, so
// deadlines and Close end it.
type rawSocket struct {
	*net.TCPConn
	calls    syscall.RawConn
	pending  pendingFrame
	writeErr error

	some, all func(fd uintptr) bool // writeSome and writeAll, bound once: a method value allocates
}

func (s *rawSocket) begin(head, payload []byte) (bool, error) {
	s.pending.parts = [2][]byte{head, payload}
	return s.resume()
}

func (s *rawSocket) resume() (bool, error) {
	err := s.calls.Write(s.some)
	if err == nil {
		err = s.writeErr
	}
	if err == unix.EAGAIN {
		return false, nil
	}
	s.pending.drop()
	return err == nil, err
}

func (s *rawSocket) finish() error {
	err := s.calls.Write(s.all)
	s.pending.drop()
	if err == nil {
		err = s.writeErr
	}
	return err
}

// writeSome writes until the frame is written or the socket is full.
func (s *rawSocket) writeSome(fd uintptr) bool {
	s.writeErr = s.pending.writeTo(fd)
	return true
}

// writeAll is writeSome, but returns false, which asks for another call, while bytes remain.
func (s *rawSocket) writeAll(fd uintptr) bool {
	s.writeSome(fd)
	return s.writeErr != unix.EAGAIN
}

// pendingFrame is the unwritten rest of a frame.
type pendingFrame struct {
	parts [2][]byte     // rest of the head and of the payload
	vec   [2]unix.Iovec // parts, for the kernel
	small [smallBytes]byte
}

// smallBytes bounds the frames that are copied into one piece before they are written.
// send(2) of one piece takes a shorter way through the kernel than writev(2), which saves
// more than the copy costs.
const smallBytes = 1 << 10

// drop releases the frame.
func (f *pendingFrame) drop() { f.parts = [2][]byte{} }

// writeTo writes until nothing is left. It returns unix.EAGAIN when the socket is full. It
// calls send(2) for a short frame, else writev(2), like pollSocket.Read without notice to the runtime.
func (f *pendingFrame) writeTo(fd uintptr) error {
	for len(f.parts[0])+len(f.parts[1]) > 0 {
		var sent uintptr
		var errno unix.Errno
		if len(f.parts[0])+len(f.parts[1]) <= len(f.small) {
			n := copy(f.small[:], f.parts[0])
			n += copy(f.small[n:], f.parts[1])
			sent, _, errno = unix.RawSyscall6(unix.SYS_SENDTO, fd, uintptr(unsafe.Pointer(&f.small)), uintptr(n), unix.MSG_NOSIGNAL, 0, 0)
		} else {
			for i, p := range f.parts {
				f.vec[i].Base = unsafe.SliceData(p)
				f.vec[i].SetLen(len(p))
			}
			sent, _, errno = unix.RawSyscall(unix.SYS_WRITEV, fd, uintptr(unsafe.Pointer(&f.vec)), uintptr(len(f.vec)))
		}
		switch errno {
		case 0:
			head := min(int(sent), len(f.parts[0]))
			f.parts[0], f.parts[1] = f.parts[0][head:], f.parts[1][int(sent)-head:]
		case unix.EINTR:
		default:
			return errno
		}
	}
	return nil
}
