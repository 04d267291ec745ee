package tcplink

import "net"

// bufferBytes is the size of a socket's buffers in each direction. It bounds the lead of a
// sender over a receiver that does not run.
const bufferBytes = 4 << 20

// socket is a connection that carries frames. One goroutine may read while another one
// writes. Close sends its goodbye with Write at any time.
type socket interface {
	net.Conn

	// begin writes as much of head and payload as it can without blocking, in one
	// system call, and reports whether all is written. If not, calls of resume must
	// follow until it returns true, or one call of finish. The caller must not change
	// head and payload until then.
	begin(head, payload []byte) (whole bool, err error)

	// resume continues begin with the rest.
	resume() (whole bool, err error)

	// finish writes the rest, if any. It may block.
	finish() error
}

// write writes head and payload, in one system call if the socket takes both whole.
func write(s socket, head, payload []byte) error {
	whole, err := s.begin(head, payload)
	if err == nil && !whole {
		err = s.finish()
	}
	return err
}

// tune returns c with socket options for bulk data. local is the number of workers on this host. Go
// disables Nagle's algorithm by default.
func tune(c net.Conn, local int) net.Conn {
	if t, ok := c.(*net.TCPConn); ok {
		tuneTCP(t, local) // errors are ignored: the socket works without the options
	}
	return c
}

// portableSocket is a socket that uses package net only.
type portableSocket struct {
	net.Conn
	parts  [2][]byte
	vector net.Buffers // parts; a write consumes it
}

// begin writes no bytes: package net has no write that does not block.
func (s *portableSocket) begin(head, payload []byte) (bool, error) {
	s.parts = [2][]byte{head, payload}
	s.vector = s.parts[:]
	return false, nil
}

func (s *portableSocket) resume() (bool, error) { return false, nil }

func (s *portableSocket) finish() error {
	_, err := s.vector.WriteTo(s.Conn)
	s.parts, s.vector = [2][]byte{}, nil
	return err
}
