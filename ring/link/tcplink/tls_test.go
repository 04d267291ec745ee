package tcplink

import (
	"net"
	"sync"
	"testing"
)

// fullSocket is a socket that has taken a part of the first write, and takes no more.
type fullSocket struct {
	socket
	begun int
}

func (f *fullSocket) begin([]byte, []byte) (bool, error) { f.begun++; return false, nil }

func (f *fullSocket) resume() (bool, error) { return false, nil }

// sealer stands for TLS: it makes a record of each write.
type sealer struct {
	net.Conn
	below records
}

func (s sealer) Write(p []byte) (int, error) { return s.below.Write(p) }

// TestAlert verifies that an alert of the reader does not get into a record that the socket has taken
// in part, and that the reader may have one at any time of a write.
func TestAlert(t *testing.T) {
	full := &fullSocket{}
	s := &tlsSocket{socket: full}
	s.tls = sealer{below: records{s}}
	var reading sync.WaitGroup
	reading.Go(func() {
		for range 1000 {
			s.add([]byte("alert"))
		}
	})
	for range 1000 {
		s.partial = false
		if whole, err := s.begin([]byte("head"), []byte("payload")); whole || err != nil {
			t.Fatalf("a full socket takes a frame: %v, %v", whole, err)
		}
	}
	reading.Wait()
	begun := full.begun
	records{s}.Write([]byte("alert"))
	if whole, err := s.resume(); whole || err != nil || full.begun != begun {
		t.Errorf("the socket gets an alert within a record (%v, %v)", whole, err)
	}
}
