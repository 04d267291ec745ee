package tcplink

import "net"

// bufferBytes is the size of a socket's buffers in each direction: what a
// sender can be ahead of a receiver that is not running.
const bufferBytes = 4 << 20

// tune returns the socket of a connection that has shaken hands, set up for
// bulk data. Nagle's algorithm is off already, as always in Go.
func tune(c net.Conn) net.Conn {
	if s, ok := c.(interface{ Socket() net.Conn }); ok {
		c = s.Socket() // what a port read ahead is consumed by now
	}
	if t, ok := c.(*net.TCPConn); ok {
		tuneTCP(t) // a socket without these settings works as well
	}
	return c
}
