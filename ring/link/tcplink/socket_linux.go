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

// nearSendBytes is bufferBytes of sending where both ends are on one machine. It is less
// than the window of the receiver, so that all data leave by the sender's own system call.
// What has to wait for a window leaves when that opens, from the receiver's core, while
// the sender sends more from another one: it comes out of order, which the kernel takes
// for a loss.
const nearSendBytes = 512 << 10

func tuneTCP(c *net.TCPConn) {
	// A size that is set ends the kernel's own tuning, so a kernel that would
	// cut it is left alone.
	if bufferLimit("/proc/sys/net/core/rmem_max") >= bufferBytes {
		c.SetReadBuffer(bufferBytes)
	}
	if size := sendBytes(near(c), bufferLimit("/proc/sys/net/core/wmem_max")); size > 0 {
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

// sendBytes is the size to set for sending where the kernel allows limit; 0 leaves it alone.
func sendBytes(near bool, limit int) int {
	size := bufferBytes
	if near {
		size = nearSendBytes
	}
	if limit < size {
		return 0
	}
	return size
}

// near tells whether both ends of c are on one machine.
func near(c net.Conn) bool {
	here, _ := c.LocalAddr().(*net.TCPAddr)
	there, _ := c.RemoteAddr().(*net.TCPAddr)
	return here != nil && there != nil && here.IP.Equal(there.IP)
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
