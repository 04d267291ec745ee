package delivery

import (
	"fmt"
	"slices"
	"sync"

	"ringtrain/ring"
)

// AckBytes is how much arrives between two acknowledgements. It is part of the
// protocol, as RareAckBytes is.
const AckBytes = 1 << 20

// RareAckBytes is how much does over a stream of which nothing is kept until it is
// acknowledged. Each acknowledgement wakes the sender's process up, which costs some tens
// of microseconds where there are more processes than cores.
const RareAckBytes = 16 << 20

// Received counts what has arrived since the last acknowledgement.
type Received struct {
	Rare  bool // acknowledgements come each RareAckBytes, else each AckBytes
	bytes int
}

// Add counts a data frame and tells whether it is to be acknowledged.
func (r *Received) Add(f *ring.Frame) bool { return r.count(ring.FrameHeaderBytes + len(f.Payload)) }

func (r *Received) count(n int) bool {
	r.bytes += n
	if r.bytes < AckBytes || r.Rare && r.bytes < RareAckBytes {
		return false
	}
	r.bytes = 0
	return true
}

// Restart begins to count at zero, as a stream that goes on over a new connection does.
func (r *Received) Restart() { r.bytes = 0 }

// Sent is the sender's book of the acknowledgements that must come. One
// goroutine may send while another one reads acknowledgements.
type Sent struct {
	Receiver Received // what the receiver will count; Rare must be as it is there

	mu      sync.Mutex
	due     []Position // acknowledgements to come, in their order: at most one for each MiB under way
	settled chan struct{}
}

// Add enters a data frame and tells whether it will be acknowledged. It must be
// called before the frame leaves, so that no acknowledgement overtakes it.
func (s *Sent) Add(f *ring.Frame) bool { return s.Enter(At(f), ring.FrameHeaderBytes+len(f.Payload)) }

// Enter is Add for a frame of n bytes, header included.
func (s *Sent) Enter(at Position, n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := s.Receiver.count(n)
	if due {
		s.due = append(s.due, at)
	}
	return due
}

// Restart empties the book, as a stream that goes on over a new connection does
// on both sides: the counts begin at zero, and nothing is due.
func (s *Sent) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Receiver.Restart()
	s.due = s.due[:0]
}

// Ack enters an acknowledgement. One that is not due is ring.ErrCorruptFrame:
// the neighbour claims to have what it was not sent.
func (s *Sent) Ack(f *ring.Frame) error {
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
	if len(s.due) == 0 && s.settled != nil {
		close(s.settled)
		s.settled = nil
	}
	return nil
}

// Settled returns a channel that is closed once no acknowledgement is due.
// Nothing may be added any more.
//
// Who closes a TCP connection while one is due risks what the neighbour has not
// read yet: the acknowledgement finds no socket, and the kernel answers it
// with a reset.
func (s *Sent) Settled() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	settled := make(chan struct{})
	if len(s.due) == 0 {
		close(settled)
	} else {
		s.settled = settled
	}
	return settled
}
