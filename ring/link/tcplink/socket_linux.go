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
// a neighbour that is busy closes its window too. Within one machine there is none: a kernel
// does not vanish without its processes, and a job may be stopped for as long as anybody likes,
// with windows closed.
const userTimeout = 6 * time.Minute

// nearSendBytes is how much the sending side of a connection within one machine holds at
// least. Where its workers are few they divide bufferBytes. With 1 MiB instead of 2 two
// processes on two cores took up to 1.3 times as long for 8 MiB, and with 2 instead of 1 four
// took 1.1 times as long for 32 MiB; why is not known.
const nearSendBytes = 512 << 10

// nearCongestion is how a connection within one machine, where nothing is congested, is
// controlled. What waits for a window leaves when that opens, from the receiver's core, while
// the sender sends more from another one: it comes out of order, and the kernel takes that for
// a loss. Whatever else machines have by default then paces or slows down the sender: cubic took
// up to 1.4 times as long for 8 MiB, bbr up to 1.5 times for 2 MiB.
const nearCongestion = "reno"

func tuneTCP(c *net.TCPConn, local int) {
	// A size that is set ends the kernel's own tuning, so a kernel that would
	// cut it is left alone.
	if bufferLimit("/proc/sys/net/core/rmem_max") >= bufferBytes {
		c.SetReadBuffer(bufferBytes)
	}
	together := near(c)
	if size := sendBytes(together, local, bufferLimit("/proc/sys/net/core/wmem_max")); size > 0 {
		c.SetWriteBuffer(size)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) {
		if together {
			unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, nearCongestion)
		} else {
			unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(userTimeout.Milliseconds()))
		}
	})
}

// sendBytes is the size to set for sending where the kernel allows limit; 0 leaves it alone.
func sendBytes(near bool, local, limit int) int {
	size := bufferBytes
	if near {
		size = max(bufferBytes/max(local, 2), nearSendBytes)
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
