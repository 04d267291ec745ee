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

// newSource returns c as a connection to read frames from, whose reads try up to
// so many times more before they sleep.
func newSource(c net.Conn, tries int) net.Conn {
	if t, ok := c.(*net.TCPConn); ok {
		if s, err := takeOver(t, tries); err == nil {
			return s
		}
	}
	return c
}

// own is a TCP socket that the runtime's poller does not know: for reading. A
// socket that it knows wakes a thread of the runtime with each segment that
// arrives, also when the reader has taken that already; with more ranks than
// cores that thread takes the core from a rank. So a read tries, yields its core
// and tries again for a while, and then waits in poll, in its own thread. The
// package comment has figures.
type own struct {
	fd            int
	local, remote net.Addr
	spin          spin
	rest          vector          // of begin
	idle          func(last bool) // of onIdle; may be nil

	readBy, writeBy atomic.Int64 // deadlines, in nanoseconds since 1970; 0: none

	mu     sync.Mutex // guards what follows
	users  int        // calls that are using fd
	closed bool
}

// longestPoll bounds how late a read or write notices a deadline that was set
// while it waited.
const longestPoll = 50 * time.Millisecond

// takeOver returns c's socket without the poller, or an error that leaves c as it
// is. c is closed if it succeeds.
func takeOver(c *net.TCPConn, tries int) (*own, error) {
	calls, err := c.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &own{local: c.LocalAddr(), remote: c.RemoteAddr(), spin: spin{most: tries}}
	var dup error
	if err := calls.Control(func(fd uintptr) {
		s.fd, dup = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	}); err != nil {
		return nil, err
	}
	if dup != nil {
		return nil, os.NewSyscallError("fcntl", dup)
	}
	c.Close() // and with it the poller forgets the socket, which lives on
	return s, nil
}

// enter allows the use of fd until leave.
func (s *own) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	s.users++
	return nil
}

func (s *own) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.users--; s.users == 0 && s.closed {
		unix.Close(s.fd)
	}
}

// Close ends a read or write that waits, too.
func (s *own) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	s.closed = true
	if s.users > 0 {
		unix.Shutdown(s.fd, unix.SHUT_RDWR) // wakes them; the last one closes
		return nil
	}
	return os.NewSyscallError("close", unix.Close(s.fd))
}

// Read is that of net.Conn.
func (s *own) Read(p []byte) (int, error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.leave()
	tries := -1 // not asked for yet
	for {
		n, err := readNow(s.fd, p)
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
			if err := s.await(unix.POLLIN, &s.readBy); err != nil {
				return 0, err
			}
		case err != nil:
			return 0, s.because(os.NewSyscallError("read", err))
		case n == 0 && len(p) > 0:
			return 0, s.because(io.EOF)
		default:
			if tries > 0 {
				s.spin.paid()
			}
			return n, nil
		}
	}
}

// readNow is recv(2) of a socket that never blocks, which takes a shorter way through
// the kernel than read(2), without a word to the runtime.
// A goroutine that is in one system call after the other makes the runtime look
// every 20 µs whether to take its processor away, and now and then do it; with
// more ranks than cores that costs a quarter of the time of a small all-reduce.
func readNow(fd int, p []byte) (int, error) {
	n, _, errno := unix.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
}

// because is net.ErrClosed on a socket that was closed here, which is why
// whatever happened did.
func (s *own) because(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return net.ErrClosed
	}
	return err
}

// await waits until fd is ready for an event, or the deadline has passed, or
// Close.
func (s *own) await(event int16, deadline *atomic.Int64) error {
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
		if s.because(nil) != nil {
			return net.ErrClosed
		}
	}
}

// onIdle has Read call work when it finds nothing, with last before it sleeps. It must not
// be called while Read runs.
func (s *own) onIdle(work func(last bool)) { s.idle = work }

// begin is that of a socket.
func (s *own) begin(head, payload []byte) (bool, error) {
	if err := s.enter(); err != nil {
		return false, err
	}
	defer s.leave()
	s.rest.parts = [2][]byte{head, payload}
	return s.some()
}

// goOn is that of a socket.
func (s *own) goOn() (bool, error) {
	if err := s.enter(); err != nil {
		return false, err
	}
	defer s.leave()
	return s.some()
}

// some writes of the rest what it can without waiting.
func (s *own) some() (bool, error) {
	switch err := s.rest.writeTo(uintptr(s.fd)); err {
	case nil:
		s.rest.drop()
		return true, nil
	case unix.EAGAIN:
		return false, nil
	default:
		s.rest.drop()
		return false, s.because(os.NewSyscallError("writev", err))
	}
}

// finish is that of a socket.
func (s *own) finish() error {
	if err := s.enter(); err != nil {
		return err
	}
	defer s.leave()
	defer s.rest.drop()
	for {
		switch err := s.rest.writeTo(uintptr(s.fd)); err {
		case nil:
			return nil
		case unix.EAGAIN:
			if err := s.await(unix.POLLOUT, &s.writeBy); err != nil {
				return err
			}
		default:
			return s.because(os.NewSyscallError("writev", err))
		}
	}
}

// Write is that of net.Conn.
func (s *own) Write(p []byte) (int, error) {
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.leave()
	for done := 0; ; {
		n, err := unix.Write(s.fd, p[done:])
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			if err := s.await(unix.POLLOUT, &s.writeBy); err != nil {
				return done, err
			}
		case err != nil:
			return done, s.because(os.NewSyscallError("write", err))
		default:
			if done += n; done == len(p) {
				return done, nil
			}
		}
	}
}

func (s *own) LocalAddr() net.Addr  { return s.local }
func (s *own) RemoteAddr() net.Addr { return s.remote }

func (s *own) SetDeadline(t time.Time) error {
	s.SetReadDeadline(t)
	return s.SetWriteDeadline(t)
}

func (s *own) SetReadDeadline(t time.Time) error  { return set(&s.readBy, t) }
func (s *own) SetWriteDeadline(t time.Time) error { return set(&s.writeBy, t) }

func set(deadline *atomic.Int64, t time.Time) error {
	if t.IsZero() {
		deadline.Store(0)
	} else {
		deadline.Store(max(t.UnixNano(), 1))
	}
	return nil
}
