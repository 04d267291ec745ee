package tcplink

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"ringtrain/ring"
	"ringtrain/ring/token"
)

const (
	recordBytes = 16 << 10 // of a frame in one record of TLS, at most
	pieceBytes  = 4 * recordBytes
)

// tlsSocket carries frames over TLS. It encrypts a frame in pieces, the next one once the socket below
// has taken the one before: begin and resume never block, and a full socket costs one piece of memory.
// TLS writes its records into the piece, and reads from the socket.
type tlsSocket struct {
	socket          // below TLS: deadlines, addresses, Close
	tls    net.Conn // over records{s}

	writing sync.Mutex        // held by begin, resume, finish and Write
	first   [recordBytes]byte // the head of a frame, and as much of its payload as makes a record
	rest    [2][]byte         // what is not encrypted yet, of first and of the payload
	piece   []byte            // records that the socket below takes or has taken
	partial bool              // it has not taken all of piece
	readErr error             // of the socket below; nil: TLS itself has failed

	adding  sync.Mutex // guards sealing, and piece while it is set
	sealing bool       // TLS writes into piece
}

// newTLSSocket puts below under the TLS of c.
func newTLSSocket(c *token.Conn, below socket) *tlsSocket {
	s := &tlsSocket{socket: below, tls: c.Conn}
	c.SetSocket(records{s})
	return s
}

// records is the connection below TLS.
type records struct{ *tlsSocket }

// Read reads from the socket.
func (r records) Read(p []byte) (n int, err error) {
	n, err = r.socket.Read(p)
	r.readErr = err
	return n, err
}

// Write appends a record to the piece. Outside of a frame TLS sends an alert, which tells the other end
// why this one reads no more: it goes out if it can at once.
func (r records) Write(record []byte) (int, error) {
	if !r.add(record) && r.writing.TryLock() {
		defer r.writing.Unlock()
		if !r.partial { // else the alert would stand within a record
			_, _ = r.socket.begin(record, nil) // the connection ends either way
		}
	}
	return len(record), nil
}

// add appends a record to the piece while seal encrypts, and reports whether it has. The reader's
// goroutine, too, can have an alert then.
func (s *tlsSocket) add(record []byte) bool {
	s.adding.Lock()
	defer s.adding.Unlock()
	if s.sealing {
		s.piece = append(s.piece, record...)
	}
	return s.sealing
}

func (s *tlsSocket) setSealing(on bool) {
	s.adding.Lock()
	defer s.adding.Unlock()
	s.sealing = on
}

// Read implements net.Conn. What TLS refuses is ring.ErrChangedBytes.
func (s *tlsSocket) Read(p []byte) (int, error) {
	n, err := s.tls.Read(p)
	if s.readErr == nil {
		err = changed(err)
	}
	return n, err
}

// changed returns an error of TLS itself as ring.ErrChangedBytes.
func changed(err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "local error" {
		err = op.Err
	}
	return fmt.Errorf("%w (%w)", ring.ErrChangedBytes, err)
}

func (s *tlsSocket) begin(head, payload []byte) (bool, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	n := copy(s.first[:], head)
	n += copy(s.first[n:], payload)
	s.rest = [2][]byte{s.first[:n], payload[n-len(head):]}
	return s.advance()
}

func (s *tlsSocket) resume() (bool, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	return s.advance()
}

func (s *tlsSocket) finish() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	for {
		if whole, err := s.advance(); whole || err != nil {
			return err
		}
		s.partial = false
		if err := s.socket.finish(); err != nil {
			return err
		}
	}
}

// Write implements net.Conn.
func (s *tlsSocket) Write(p []byte) (int, error) {
	whole, err := s.begin(nil, p)
	if err == nil && !whole {
		err = s.finish()
	}
	return len(p), err
}

// advance writes the rest of the frame until all is written or the socket is full. s.writing is held.
func (s *tlsSocket) advance() (whole bool, err error) {
	for {
		if s.partial {
			whole, err = s.socket.resume()
		} else if len(s.rest[0])+len(s.rest[1]) == 0 {
			return true, nil
		} else if err = s.seal(); err == nil {
			whole, err = s.socket.begin(s.piece, nil)
		}
		s.partial = !whole
		if err != nil || !whole {
			return false, err
		}
	}
}

// seal encrypts the next piece of the frame.
func (s *tlsSocket) seal() error {
	s.piece = s.piece[:0]
	s.setSealing(true)
	defer s.setSealing(false)
	room := pieceBytes
	for i, part := range s.rest {
		n := min(len(part), room)
		room -= n
		s.rest[i] = part[n:]
		if n == 0 {
			continue
		}
		if _, err := s.tls.Write(part[:n]); err != nil {
			return changed(err)
		}
	}
	return nil
}
