package tcplink

import "net"

// bufferBytes is the size of a socket's buffers in each direction: what a
// sender can be ahead of a receiver that is not running.
const bufferBytes = 4 << 20

// socket is a connection that carries frames. As ever, one goroutine may read
// and another one write; goodbyes are written with Write at any time.
type socket interface {
	net.Conn

	// begin writes of head and then payload what it can without waiting, in one
	// system call, and tells whether that is all. If it is not, goOn until it is, or finish,
	// is to follow; until then both must stay as they are.
	begin(head, payload []byte) (whole bool, err error)

	// goOn is begin for what that has left.
	goOn() (whole bool, err error)

	// finish writes what begin has left, if anything.
	finish() error
}

// write writes head and then payload, in one system call if the socket takes them.
func write(s socket, head, payload []byte) error {
	whole, err := s.begin(head, payload)
	if err == nil && !whole {
		err = s.finish()
	}
	return err
}

// tune returns the connection below c, which has shaken hands, set up for bulk
// data of one of so many workers of this host. Nagle's algorithm is off already, as always in Go.
func tune(c net.Conn, local int) net.Conn {
	if s, ok := c.(interface{ Socket() net.Conn }); ok {
		c = s.Socket() // what a port read ahead is consumed by now
	}
	if t, ok := c.(*net.TCPConn); ok {
		tuneTCP(t, local) // a socket without these settings works as well
	}
	return c
}

// portable is a socket by means of package net alone.
type portable struct {
	net.Conn
	parts  [2][]byte
	vector net.Buffers // parts; a write consumes it
}

// begin writes nothing: package net cannot but wait.
func (s *portable) begin(head, payload []byte) (bool, error) {
	s.parts = [2][]byte{head, payload}
	s.vector = s.parts[:]
	return false, nil
}

func (s *portable) goOn() (bool, error) { return false, nil }

func (s *portable) finish() error {
	_, err := s.vector.WriteTo(s.Conn)
	s.parts, s.vector = [2][]byte{}, nil
	return err
}
