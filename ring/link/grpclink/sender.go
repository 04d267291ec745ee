package grpclink

import (
	"fmt"
	"io"
	"sync"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// sender is the half of a link that goes to the neighbour which receives.
type sender struct {
	out        *outgoing
	payloadCRC bool
	sent       delivery.AckTracker
	aborts     *delivery.AbortNotifier

	busy   sync.Mutex // held while a frame is being sent; guards what follows
	broken bool       // a frame was not sent whole: nothing may follow it
	head   [ring.FrameHeaderBytes]byte
	msg    outMessage

	ended  chan struct{} // closed when no acknowledgement can come any more, and out is closed;
	reason error         // then it is known why
}

// send sends f, in several messages if it is long.
func (s *sender) send(f *ring.Frame) error {
	s.busy.Lock()
	defer s.busy.Unlock()
	if s.broken {
		return s.whyBroken()
	}
	ring.PutFrameHeader(s.head[:], f, s.payloadCRC)
	if f.Kind == ring.KindData {
		s.sent.Add(f)
	}
	head, rest := s.head[:], f.Payload
	for len(head) > 0 || len(rest) > 0 {
		n := min(len(rest), maxChunk)
		s.msg = outMessage{head: head, body: rest[:n]}
		err := s.out.stream.SendMsg(&s.msg)
		s.msg = outMessage{} // the payload is the caller's again
		if err != nil {
			s.broken = true
			return s.whyBroken()
		}
		head, rest = nil, rest[n:]
	}
	return nil
}

// whyBroken returns why the stream has ended, which gRPC tells only to who
// receives from it.
func (s *sender) whyBroken() error {
	stop := time.AfterFunc(reasonTimeout, s.out.cancel)
	defer stop.Stop()
	<-s.ended
	return s.reason
}

// readAcks reads what the neighbour sends back, until the stream ends.
func (s *sender) readAcks() {
	var msg inMessage
	for s.reason == nil {
		if err := s.out.stream.RecvMsg(&msg); err != nil {
			s.reason = lost(err)
		} else {
			s.reason = s.answered(&msg)
		}
	}
	s.out.Close()
	close(s.ended)
	s.aborts.Notify(s.reason)
}

// answered takes what has come back. Its error is why nothing follows.
func (s *sender) answered(msg *inMessage) error {
	if why := lastWord(msg); why != nil {
		return why
	}
	var head [ring.FrameHeaderBytes]byte
	n := msg.take(head[:], nil)
	h, err := ring.ParseFrameHeader(head[:min(n, len(head))])
	switch {
	case err != nil:
		return err
	case n != len(head) || h.PayloadBytes != 0:
		return fmt.Errorf("%w: %d bytes where acknowledgements come, want %d", ring.ErrCorruptFrame, n, len(head))
	case h.Kind != ring.KindAck:
		return fmt.Errorf("%w: kind %d where acknowledgements come", ring.ErrCorruptFrame, h.Kind)
	}
	return s.sent.Ack(&h.Frame)
}

// lost returns the error of a stream that ended without a goodbye.
func lost(err error) error {
	if err == io.EOF {
		return delivery.WithoutAddresses(err)
	}
	return fmt.Errorf("the stream ended without a goodbye: %w: %w", io.ErrUnexpectedEOF, bare(err))
}

// close sends a last frame and ends the stream when the neighbour has taken
// everything, for gRPC sends later than it says. If a frame is on its way, or
// was cut off, the stream has no good end and is ended at once, unless the last frame is
// one before which the rest goes.
func (s *sender) close(last delivery.ClosingFrame) {
	locked := !last.FinishPartial && s.busy.TryLock()
	if last.FinishPartial {
		rest := time.AfterFunc(abortTimeout, s.out.cancel) // ends a send that waits
		s.busy.Lock()
		rest.Stop()
		locked = true
	}
	if locked {
		hurry := time.AfterFunc(lingerTimeout, s.out.cancel)
		if !s.broken && say(s.out.stream, last) == nil && s.out.stream.CloseSend() == nil {
			<-s.ended
		}
		hurry.Stop()
		s.broken = true // nothing follows
		s.busy.Unlock()
	}
	s.out.cancel()
	<-s.ended
}

// writeClosing sends a last frame.
func say(s stream, last delivery.ClosingFrame) error { return s.SendMsg(&outMessage{head: last.Bytes}) }
