//go:build !linux

package tcplink

import "net"

func tuneTCP(c *net.TCPConn) {
	c.SetReadBuffer(bufferBytes)
	c.SetWriteBuffer(bufferBytes)
}

// newSocket returns a socket that does not spin: elsewhere than on Linux
// nobody has measured what is best.
func newSocket(c net.Conn, _ int) socket { return &portable{Conn: c} }
