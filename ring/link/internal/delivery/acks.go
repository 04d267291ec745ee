package delivery

import (
	"fmt"
	"slices"
	"sync"

	"ringtrain/ring"
)

// AckBytes is the number of bytes between two acknowledgements. It is part of the
// protocol, as RareAckBytes is.
const AckBytes = 1 << 20

// RareAckBytes is the number of bytes between two acknowledgements where the sender keeps
// no frames for a repair. Each acknowledgement wakes the sender's process, which is costly
// with more processes than cores.
const RareAckBytes = 16 << 20

// ReceivedCounter counts the bytes since the last acknowledgement.
type ReceivedCounter struct {
	Rare  bool // an acknowledgement is due every RareAckBytes, else every AckBytes
	bytes int
}

// Add counts a data frame and reports whether an acknowledgement is due.
func (r *ReceivedCounter) Add(f *ring.Frame) bool {
	return r.count(ring.FrameHeaderBytes + len(f.Payload))
}

func (r *ReceivedCounter) count(n int) bool {
	r.bytes += n
	if r.bytes < AckBytes || r.Rare && r.bytes < RareAckBytes {
		return false
	}
	r.bytes = 0
	return true
}

// Reset sets the count to zero, as for a stream that continues over a new connection.
func (r *ReceivedCounter) Reset() { r.bytes = 0 }

// AckTracker tracks the acknowledgements that a sender expects. One goroutine may send
// while another one reads acknowledgements.
type AckTracker struct {
	Counter ReceivedCounter // counts like the receiver; Rare must be the same there

	mu       sync.Mutex
	due      []Position // expected acknowledgements in order, at most one for each AckBytes in flight
	allAcked chan struct{}
}

// Add records a data frame and reports whether the receiver will acknowledge it. Add must
// be called before the frame is written, so that no acknowledgement arrives earlier.
func (s *AckTracker) Add(f *ring.Frame) bool {
	return s.Record(At(f), ring.FrameHeaderBytes+len(f.Payload))
}

// Record is Add for a frame of n bytes, including its header.
func (s *AckTracker) Record(at Position, n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := s.Counter.count(n)
	if due {
		s.due = append(s.due, at)
	}
	return due
}

// Reset sets the count to zero and expects no acknowledgement, as both sides do for a stream
// that continues over a new connection.
func (s *AckTracker) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Counter.Reset()
	s.due = s.due[:0]
}

// Ack records an acknowledgement. One that is not due is ring.ErrCorruptFrame: the
// neighbour claims to have a frame that was not sent.
func (s *AckTracker) Ack(f *ring.Frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := At(f)
	if len(s.due) == 0 {
		return fmt.Errorf("%w: %v is acknowledged, but none is due", ring.ErrCorruptFrame, got)
	}
	if got != s.due[0] {
		return fmt.Errorf("%w: %v is acknowledged, but due is %v", ring.ErrCorruptFrame, got, s.due[0])
	}
	s.due = slices.Delete(s.due, 0, 1)
	if len(s.due) == 0 && s.allAcked != nil {
		close(s.allAcked)
		s.allAcked = nil
	}
	return nil
}

// AllAcked returns a channel that is closed once no acknowledgement is due. No frame may
// be added after the call.
//
// A close while an acknowledgement is due may lose frames that the neighbour has not read:
// the acknowledgement arrives at a closed socket, and the kernel answers it with a
// reset.
func (s *AckTracker) AllAcked() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	settled := make(chan struct{})
	if len(s.due) == 0 {
		close(settled)
	} else {
		s.allAcked = settled
	}
	return settled
}
