//go:build !linux

package tcplink

import "net"

func tuneTCP(c *net.TCPConn) {
	c.SetReadBuffer(bufferBytes)
	c.SetWriteBuffer(bufferBytes)
}
