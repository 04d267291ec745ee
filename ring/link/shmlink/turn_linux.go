package shmlink

import (
	"io"
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

// inTurn is a connection whose system calls are made one after the other with
// those of all that share turn.
//
// A goroutine in a system call keeps a thread, also in a call that never waits, if
// another process takes the core from it meanwhile, and Go's runtime starts a
// thread more for the goroutines that are left. A leader hears all members at the
// same moment, and has few cores: it would get a thread for each call in which it
// is interrupted. A goroutine that waits for its turn, or for its socket, keeps
// none.
type inTurn struct {
	*net.UnixConn
	turn *sync.Mutex
}

// Read reads a packet.
func (c inTurn) Read(b []byte) (n int, err error) {
	n, _, _, _, err = c.ReadMsgUnix(b, nil)
	return n, err
}

// ReadMsgUnix is that of net.UnixConn, but for the address, which it does not tell.
func (c inTurn) ReadMsgUnix(b, oob []byte) (n, oobn, flags int, from *net.UnixAddr, err error) {
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
func (c inTurn) Write(b []byte) (int, error) {
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

// Close closes the connection. No other call of c is going on: it would wait for its
// turn, and Close for it.
func (c inTurn) Close() error { return c.call(c.UnixConn.Close) }

// call makes a call when it is its turn, again where a signal has broken it off.
func (c inTurn) call(do func() error) (err error) {
	c.turn.Lock()
	defer c.turn.Unlock()
	for err = do(); err == unix.EINTR; err = do() {
	}
	return err
}
