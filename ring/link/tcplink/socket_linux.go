package tcplink

import (
	"bytes"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// userTimeout is how long sent data may stay unacknowledged by the other
// host's kernel, or its window closed. Without it a vanished host is noticed
// after a quarter of an hour. It must be longer than ring.DefaultConfig waits:
// a neighbour that is busy closes its window too.
const userTimeout = 6 * time.Minute

func tuneTCP(c *net.TCPConn) {
	// A size that is set ends the kernel's own tuning, so a kernel that would
	// cut it is left alone.
	size := buffersOf(c)
	if bufferLimit("/proc/sys/net/core/rmem_max") >= size {
		c.SetReadBuffer(size)
	}
	if bufferLimit("/proc/sys/net/core/wmem_max") >= size {
		c.SetWriteBuffer(size)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) {
		unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(userTimeout.Milliseconds()))
	})
}

// bufferLimit reads a limit of the kernel; 0 if it cannot.
func bufferLimit(file string) int {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(string(bytes.TrimSpace(b)))
	return n
}
