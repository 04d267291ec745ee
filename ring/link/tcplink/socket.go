package tcplink

import "net"

// bufferBytes is the size of a socket's buffers in each direction: what a
// sender can be ahead of a receiver that is not running.
const bufferBytes = 4 << 20

// socket is a connection that carries frames. As ever, one goroutine may read
// and another one write; goodbyes are written with Write at any time.
type socket interface {
	net.Conn

	// send writes head and then payload, in one system call if it can, and keeps
	// neither.
	send(head, payload []byte) error
}

// tune returns the connection below c, which has shaken hands, set up for bulk
// data. Nagle's algorithm is off already, as always in Go.
func tune(c net.Conn) net.Conn {
	if s, ok := c.(interface{ Socket() net.Conn }); ok {
		c = s.Socket() // what a port read ahead is consumed by now
	}
	if t, ok := c.(*net.TCPConn); ok {
		tuneTCP(t) // a socket without these settings works as well
	}
	return c
}

// portable is a socket by means of package net alone.
type portable struct {
	net.Conn
	parts  [2][]byte
	vector net.Buffers // parts; a write consumes it
}

func (s *portable) send(head, payload []byte) error {
	s.parts = [2][]byte{head, payload}
	s.vector = s.parts[:]
	_, err := s.vector.WriteTo(s.Conn)
	s.parts = [2][]byte{}
	return err
}
