package tcplink

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// sender is the half of a link that goes to the neighbour which receives.
type sender struct {
	out        socket
	payloadCRC bool
	sent       delivery.Sent

	busy   sync.Mutex // held while a frame is being written; guards what follows
	broken bool       // a frame was not written whole: nothing may follow it
	head   [ring.FrameHeaderBytes]byte

	ended  chan struct{} // closed when no acknowledgement can come any more, and out is closed;
	reason error         // then it is known why
}

// send writes f in one system call, if the socket takes it whole.
func (s *sender) send(f *ring.Frame) error {
	s.busy.Lock()
	defer s.busy.Unlock()
	if s.broken {
		return s.whyBroken(net.ErrClosed)
	}
	ring.PutFrameHeader(s.head[:], f, s.payloadCRC)
	if f.Kind == ring.KindData {
		s.sent.Add(f)
	}
	if err := s.out.send(s.head[:], f.Payload); err != nil {
		s.broken = true
		return s.whyBroken(err)
	}
	return nil
}

// whyBroken returns why out cannot be written to. What the neighbour said or
// did last tells more than the error of a write; but a reset is reported by the
// kernel only once, here or there.
func (s *sender) whyBroken(err error) error {
	s.out.SetReadDeadline(time.Now().Add(reasonTimeout))
	<-s.ended
	switch {
	case errors.Is(err, net.ErrClosed) || errors.Is(err, syscall.EPIPE):
		return s.reason // err says only that out has ended before
	case errors.Is(s.reason, os.ErrDeadlineExceeded) || s.reason == io.EOF:
		return err // the neighbour has said nothing
	}
	return s.reason
}

// readAcks reads what the neighbour sends back, until out ends.
func (s *sender) readAcks() {
	defer close(s.ended)
	defer s.out.Close() // ends a write that blocks
	r := reader{src: s.out}
	for s.reason == nil {
		f, err := r.next(nil)
		switch {
		case err != nil:
			s.reason = err
		case f.Kind == ring.KindAck:
			s.reason = s.sent.Ack(&f)
		case f.Kind == ring.KindClose:
			s.reason = delivery.ErrGoodbye
		default:
			s.reason = fmt.Errorf("%w: kind %d where acknowledgements come", ring.ErrCorruptFrame, f.Kind)
		}
	}
}

// whole tells whether the stream is at the end of a frame.
func (s *sender) whole() bool {
	if !s.busy.TryLock() {
		return false
	}
	defer s.busy.Unlock()
	return !s.broken
}

// close says goodbye and ends out when the neighbour has acknowledged what is
// due. If a frame is on its way, or was cut off, the stream has no good end and
// is closed at once, as it is if the end is not orderly.
func (s *sender) close(generation uint64, orderly bool) {
	if s.busy.TryLock() {
		if orderly && !s.broken && goodbye(s.out, generation) {
			s.out.SetReadDeadline(time.Now().Add(lingerTimeout))
			select {
			case <-s.sent.Settled():
			case <-s.ended:
			}
		}
		s.broken = true // nothing follows
		s.busy.Unlock()
	}
	s.out.Close()
	<-s.ended
}

// goodbye writes a frame of KindClose and tells whether it is written.
func goodbye(c net.Conn, generation uint64) bool {
	var b [ring.FrameHeaderBytes]byte
	ring.PutFrameHeader(b[:], &ring.Frame{Kind: ring.KindClose, Generation: generation}, false)
	c.SetWriteDeadline(time.Now().Add(goodbyeTimeout))
	_, err := c.Write(b[:])
	return err == nil
}
