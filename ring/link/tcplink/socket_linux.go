package tcplink

import (
	"bytes"
	"net"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"ringtrain/ring/link/internal/handshake"
)

// userTimeout bounds the time that sent data may stay unacknowledged by the other host's
// kernel, or its window closed. By the kernel's default a vanished host is noticed after a
// quarter of an hour. userTimeout must exceed the timeouts of ring.DefaultConfig, since a
// busy neighbour closes its window too. Connections within one machine have no such limit:
// the kernel does not vanish without its processes, and a stopped job closes windows for long.
const userTimeout = 6 * time.Minute

// localSendBytes is the minimal send buffer of a connection within one machine. The workers
// of a host share bufferBytes if they are few. The value is a measured compromise between
// two and four processes on two cores; the cause of the difference is unknown.
const localSendBytes = 512 << 10

// localCongestion is the congestion control of connections within one machine, which have
// no congestion. Segments that wait for a window are sent from the receiver's core while the
// sender sends more from another core. They arrive out of order, and the kernel takes that
// for a loss. Both cubic and bbr then slow down the sender.
const localCongestion = "reno"

func tuneTCP(c *net.TCPConn, local int) {
	// A fixed size ends the kernel's own tuning, so it is set only if the kernel
	// grants it in full.
	if bufferLimit("/proc/sys/net/core/rmem_max") >= bufferBytes {
		c.SetReadBuffer(bufferBytes)
	}
	sameHost := handshake.OneAddress(c)
	if size := sendBytes(sameHost, local, bufferLimit("/proc/sys/net/core/wmem_max")); size > 0 {
		c.SetWriteBuffer(size)
	}
	raw, err := c.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) {
		if sameHost {
			unix.SetsockoptString(int(fd), unix.IPPROTO_TCP, unix.TCP_CONGESTION, localCongestion)
		} else {
			unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(userTimeout.Milliseconds()))
		}
	})
}

// sendBytes returns the size of the send buffer. It is 0, the kernel's default, if limit does not allow it.
func sendBytes(near bool, local, limit int) int {
	size := bufferBytes
	if near {
		size = max(bufferBytes/max(local, 2), localSendBytes)
	}
	if limit < size {
		return 0
	}
	return size
}

// bufferLimit reads a limit of the kernel. It returns 0 if it cannot.
func bufferLimit(file string) int {
	b, err := os.ReadFile(file)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(string(bytes.TrimSpace(b)))
	return n
}
