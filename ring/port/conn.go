package port

import "net"

// Conn is a connection whose first bytes the port has read to find its kind. Read returns
// these bytes first.
type Conn struct {
	net.Conn
	head [magicBytes]byte
	read int // bytes of head that Read has returned
}

// Read returns the first bytes again, then the following ones.
func (c *Conn) Read(p []byte) (int, error) {
	if c.read == magicBytes {
		return c.Conn.Read(p)
	}
	n := copy(p, c.head[c.read:])
	c.read += n
	return n, nil
}

// Socket returns the underlying connection, for operations of *net.TCPConn: vectored writes
// and socket options. It panics if Read has not returned the first bytes yet, for they would
// be lost.
func (c *Conn) Socket() net.Conn {
	if c.read < magicBytes {
		panic("port: socket taken before its first bytes were read")
	}
	return c.Conn
}
