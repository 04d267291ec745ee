package grpclink

import (
	"fmt"
	"io"
	"sync"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
)

// sender is the sending half of a link.
type sender struct {
	out        *outgoing
	payloadCRC bool
	sent       delivery.AckTracker
	aborts     *delivery.AbortNotifier

	sending sync.Mutex // held while a frame is sent; guards the fields below
	broken  bool       // a frame was not sent whole, so no frame may follow
	head    [ring.FrameHeaderBytes]byte
	msg     outMessage

	ended  chan struct{} // closed when no acknowledgement can come any more and out is closed
	reason error         // set before ended is closed
}

// send sends f, in several messages if f is long.
func (s *sender) send(f *ring.Frame) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	if s.broken {
		return s.breakCause()
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
		s.msg = outMessage{} // drops the caller's payload
		if err != nil {
			s.broken = true
			return s.breakCause()
		}
		head, rest = nil, rest[n:]
	}
	return nil
}

// breakCause returns why the stream has ended. gRPC reports the reason only to a receive, so
// whyBroken waits for readAcks.
func (s *sender) breakCause() error {
	stop := time.AfterFunc(reasonTimeout, s.out.cancel)
	defer stop.Stop()
	<-s.ended
	return s.reason
}

// readAcks reads acknowledgements until the stream ends.
func (s *sender) readAcks() {
	var msg inMessage
	for s.reason == nil {
		if err := s.out.stream.RecvMsg(&msg); err != nil {
			s.reason = streamEnded(err)
		} else {
			s.reason = s.handleMessage(&msg)
		}
	}
	s.out.Close()
	close(s.ended)
	s.aborts.Notify(s.reason)
}

// handleMessage handles a message from the neighbour. Its error is why the stream ends.
func (s *sender) handleMessage(msg *inMessage) error {
	if why := closingReason(msg); why != nil {
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

// streamEnded returns the error of a stream that ended without a goodbye.
func streamEnded(err error) error {
	if err == io.EOF {
		return delivery.WithoutAddresses(err)
	}
	return fmt.Errorf("the stream ended without a goodbye: %w: %w", io.ErrUnexpectedEOF, messageOnly(err))
}

// close sends a closing frame and ends the stream once the neighbour has taken all frames,
// since gRPC sends later than SendMsg returns. If the stream ends inside a frame, close sends
// nothing, unless the closing frame says that the rest of the frame goes first.
func (s *sender) close(last delivery.ClosingFrame) {
	locked := !last.FinishPartial && s.sending.TryLock()
	if last.FinishPartial {
		rest := time.AfterFunc(abortTimeout, s.out.cancel) // ends a blocked send
		s.sending.Lock()
		rest.Stop()
		locked = true
	}
	if locked {
		linger := time.AfterFunc(lingerTimeout, s.out.cancel)
		if !s.broken && writeClosing(s.out.stream, last) == nil && s.out.stream.CloseSend() == nil {
			<-s.ended
		}
		linger.Stop()
		s.broken = true // no frame may follow
		s.sending.Unlock()
	}
	s.out.cancel()
	<-s.ended
}

// writeClosing sends a closing frame.
func writeClosing(s stream, last delivery.ClosingFrame) error {
	return s.SendMsg(&outMessage{head: last.Bytes})
}
