//go:build !linux

package tcplink

import "net"

func tuneTCP(c *net.TCPConn, _ int) {
	c.SetReadBuffer(bufferBytes)
	c.SetWriteBuffer(bufferBytes)
}

// newSocket returns c as a socket to send frames over. It returns c itself if c is a socket.
func newSocket(c net.Conn) socket {
	if s, ok := c.(socket); ok {
		return s
	}
	return &portableSocket{Conn: c}
}

// newReadConn returns c unchanged: only Linux has a socket of its own for reads.
func newReadConn(c net.Conn, _ int) net.Conn { return c }
