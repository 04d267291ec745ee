package shmlink

import (
	"io"
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// serialConn is a connection whose system calls never run at the same time as those of the
// other connections that share its mutex.
//
// A goroutine in a system call keeps its thread, also in a call that does not block, if
// another process takes the core meanwhile. Go's runtime then starts another thread for the
// other goroutines. A leader receives from all members at the same moment and has few
// cores, so it would get a thread for each interrupted call. A goroutine that waits for the
// mutex, or for its socket, keeps no thread.
type serialConn struct {
	*net.UnixConn
	turn *sync.Mutex
}

// Read reads a packet.
func (c serialConn) Read(b []byte) (n int, err error) {
	n, _, _, _, err = c.ReadMsgUnix(b, nil)
	return n, err
}

// ReadMsgUnix is the method of net.UnixConn, but returns no address.
func (c serialConn) ReadMsgUnix(b, oob []byte) (n, oobn, flags int, from *net.UnixAddr, err error) {
	calls, err := c.SyscallConn()
	if err != nil {
		return 0, 0, 0, nil, err
	}
	var failed error
	err = calls.Read(func(fd uintptr) bool {
		failed = c.call(func() (err error) {
			n, oobn, flags, _, err = unix.Recvmsg(int(fd), b, oob, unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
			return err
		})
		return failed != unix.EAGAIN
	})
	switch {
	case err != nil:
	case failed != nil:
		err = failed
	case n == 0:
		err = io.EOF
	}
	return max(n, 0), oobn, flags, nil, err
}

// Write writes a packet.
func (c serialConn) Write(b []byte) (int, error) {
	calls, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var failed error
	err = calls.Write(func(fd uintptr) bool {
		failed = c.call(func() error { return unix.Send(int(fd), b, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL) })
		return failed != unix.EAGAIN
	})
	if err == nil {
		err = failed
	}
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// Close closes the connection. No other call of c may be in progress: the call would hold the
// mutex, and Close would wait for it.
func (c serialConn) Close() error { return c.call(c.UnixConn.Close) }

// call makes a call with the mutex held, and repeats it after a signal.
func (c serialConn) call(do func() error) (err error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	for err = do(); err == unix.EINTR; err = do() {
	}
	return err
}
