package tcplink

import (
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// newReadConn returns c as a connection to read frames from. A read that finds no bytes
// tries up to tries times more before it sleeps.
func newReadConn(c net.Conn, tries int) net.Conn {
	if t, ok := c.(*net.TCPConn); ok {
		if s, err := detach(t, tries); err == nil {
			return s
		}
	}
	return c
}

// pollSocket is a TCP socket for reading that the runtime's poller does not know. The
// poller would wake a thread of the runtime for each segment that arrives, even if the
// reader has taken the segment. With more ranks than cores, this thread takes the core from
// a rank. A read of a pollSocket tries, yields its core and tries again for a while. Then
// it waits in poll(2), in its own thread.
type pollSocket struct {
	fd            int
	local, remote net.Addr
	spin          spin
	pending       pendingFrame    // set by begin
	idle          func(last bool) // set by onIdle; may be nil

	readBy, writeBy atomic.Int64 // deadlines, in nanoseconds since 1970; 0: none

	mu     sync.Mutex // guards the fields below
	users  int        // calls in progress that use fd
	closed bool
}

// longestPoll bounds the delay with which a waiting read or write notices a new
// deadline.
const longestPoll = 50 * time.Millisecond

// detach returns the socket of c outside the poller and closes c. After an error c is
// unchanged.
func detach(c *net.TCPConn, tries int) (*pollSocket, error) {
	calls, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &pollSocket{local: c.LocalAddr(), remote: c.RemoteAddr(), spin: spin{limit: tries}}
	var dup error
	if err := calls.Control(func(fd uintptr) {
		s.fd, dup = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	}); err != nil {
		return nil, err
	}
	if dup != nil {
		return nil, os.NewSyscallError("fcntl", dup)
	}
	c.Close() // the poller forgets the socket, which stays open through s.fd
	return s, nil
}

// acquire allows the use of fd until release.
func (s *pollSocket) acquire() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	s.users++
	return nil
}

func (s *pollSocket) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users == 0 && s.closed {
		unix.Close(s.fd)
	}
}

// Close closes the socket and ends a read or write that waits.
func (s *pollSocket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	s.closed = true
	if s.users > 0 {
		unix.Shutdown(s.fd, unix.SHUT_RDWR) // wakes the users; the last one closes fd
		return nil
	}
	return os.NewSyscallError("close", unix.Close(s.fd))
}

// Read implements net.Conn.
func (s *pollSocket) Read(p []byte) (int, error) {
	if err := s.acquire(); err != nil {
		return 0, err
	}
	defer s.release()
	tries := -1 // unknown until the first EAGAIN
	for {
		// recv(2) takes a shorter way through the kernel than read(2). The runtime preempts a
		// goroutine that makes one announced system call after another. With more ranks than
		// cores the preemption slows down small all-reduces, so the runtime is not told.
		n, _, err := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(s.fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0, 0, 0)
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			if tries < 0 {
				tries = s.spin.tries()
			}
			if s.idle != nil {
				s.idle(tries == 0)
			}
			if tries > 0 {
				tries--
				unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) // never fails
				continue
			}
			s.spin.failed()
			if err := s.waitReady(unix.POLLIN, &s.readBy); err != nil {
				return 0, err
			}
		case err != 0:
			return 0, s.closedOr(os.NewSyscallError("read", err))
		case n == 0 && len(p) > 0:
			return 0, s.closedOr(io.EOF)
		default:
			if tries > 0 {
				s.spin.succeeded()
			}
			return int(n), nil
		}
	}
}

// closedOr returns net.ErrClosed if this side has closed the socket, else err: the close
// is the cause of every error after it.
func (s *pollSocket) closedOr(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	return err
}

// waitReady waits until fd is ready for event. It returns os.ErrDeadlineExceeded at the
// deadline and net.ErrClosed after Close.
func (s *pollSocket) waitReady(event int16, deadline *atomic.Int64) error {
	for {
		nap := longestPoll
		if by := deadline.Load(); by != 0 {
			left := time.Until(time.Unix(0, by))
			if left <= 0 {
				return os.ErrDeadlineExceeded
			}
			nap = min(nap, left)
		}
		wait := [1]unix.PollFd{{Fd: int32(s.fd), Events: event}}
		n, err := unix.Poll(wait[:], int((nap+time.Millisecond-1)/time.Millisecond))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return os.NewSyscallError("poll", err)
		case n > 0:
			return nil
		}
		if s.closedOr(nil) != nil {
			return net.ErrClosed
		}
	}
}

// onIdle sets the function that Read calls when it finds no bytes, with last before it
// sleeps. It must not be called while Read runs.
func (s *pollSocket) onIdle(work func(last bool)) { s.idle = work }

// begin implements socket. Without a head it writes the rest of the pending frame.
func (s *pollSocket) begin(head, payload []byte) (bool, error) {
	if err := s.acquire(); err != nil {
		return false, err
	}
	defer s.release()
	if head != nil {
		s.pending.parts = [2][]byte{head, payload}
	}
	switch err := s.pending.writeTo(uintptr(s.fd)); err {
	case nil:
		s.pending.drop()
		return true, nil
	case unix.EAGAIN:
		return false, nil
	default:
		s.pending.drop()
		return false, s.closedOr(os.NewSyscallError("writev", err))
	}
}

// resume implements socket.
func (s *pollSocket) resume() (bool, error) { return s.begin(nil, nil) }

// finish implements socket.
func (s *pollSocket) finish() error {
	if err := s.acquire(); err != nil {
		return err
	}
	defer s.release()
	defer s.pending.drop()
	for {
		switch err := s.pending.writeTo(uintptr(s.fd)); err {
		case nil:
			return nil
		case unix.EAGAIN:
			if err := s.waitReady(unix.POLLOUT, &s.writeBy); err != nil {
				return err
			}
		default:
			return s.closedOr(os.NewSyscallError("writev", err))
		}
	}
}

// Write implements net.Conn.
func (s *pollSocket) Write(p []byte) (int, error) {
	if err := s.acquire(); err != nil {
		return 0, err
	}
	defer s.release()
	for done := 0; ; {
		n, err := unix.Write(s.fd, p[done:])
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			if err := s.waitReady(unix.POLLOUT, &s.writeBy); err != nil {
				return done, err
			}
		case err != nil:
			return done, s.closedOr(os.NewSyscallError("write", err))
		default:
			if done += n; done == len(p) {
				return done, nil
			}
		}
	}
}

func (s *pollSocket) LocalAddr() net.Addr  { return s.local }
func (s *pollSocket) RemoteAddr() net.Addr { return s.remote }

func (s *pollSocket) SetDeadline(t time.Time) error {
	s.SetReadDeadline(t)
	return s.SetWriteDeadline(t)
}

func (s *pollSocket) SetReadDeadline(t time.Time) error  { return storeDeadline(&s.readBy, t) }
func (s *pollSocket) SetWriteDeadline(t time.Time) error { return storeDeadline(&s.writeBy, t) }

func storeDeadline(deadline *atomic.Int64, t time.Time) error {
	if t.IsZero() {
		deadline.Store(0)
	} else {
		deadline.Store(max(t.UnixNano(), 1))
	}
	return nil
}
