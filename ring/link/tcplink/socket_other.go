//go:build !linux

package tcplink

import "net"

func tuneTCP(c *net.TCPConn, _ int) {
	c.SetReadBuffer(bufferBytes)
	c.SetWriteBuffer(bufferBytes)
}

// newSocket returns c as a socket to send frames over, as it is if it is one.
func newSocket(c net.Conn) socket {
	if s, ok := c.(socket); ok {
		return s
	}
	return &portable{Conn: c}
}

// newSource returns c as it is: elsewhere than on Linux nobody has measured what
// is best.
func newSource(c net.Conn, _ int) net.Conn { return c }
