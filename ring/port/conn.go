package port

import "net"

// Conn is a connection whose first bytes were read to tell its kind. Read
// gives them back first.
type Conn struct {
	net.Conn
	head [magicBytes]byte
	read int // how many bytes of head were given back
}

// Read returns the first bytes again, then what follows them.
func (c *Conn) Read(p []byte) (int, error) {
	if c.read == magicBytes {
		return c.Conn.Read(p)
	}
	n := copy(p, c.head[c.read:])
	c.read += n
	return n, nil
}

// Socket returns the connection below, for what only a *net.TCPConn can do:
// vectored writes, socket options. It panics as long as the first bytes were
// not read, for they would be lost.
func (c *Conn) Socket() net.Conn {
	if c.read < magicBytes {
		panic("port: socket taken before its first bytes were read")
	}
	return c.Conn
}
