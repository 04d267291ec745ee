package tcplink

import (
	"net"

	"ringtrain/ring/link/internal/handshake"
)

// conn is a proved connection that carries frames.
type conn struct {
	socket        // for frames: below, or TLS over it
	below  socket // of the kernel
	crc    bool   // each frame has a CRC
	tls    bool
}

// newConn returns c as a connection for frames, nil for nil. open makes a socket for frames of a
// connection of package net.
func newConn(c *handshake.Conn, open func(net.Conn) socket) *conn {
	if c == nil {
		return nil
	}
	s := open(c.Socket())
	if !c.Secure() {
		return &conn{socket: s, below: s, crc: c.CRC()}
	}
	return &conn{socket: newTLSSocket(c.Conn, s), below: s, tls: true}
}
