package rendezvous

import (
	"sync/atomic"
	"time"

	pb "ringtrain/ring/ringpb"
)

// wishTimeout is how long a wish to leave waits for the rendezvous. Then the
// worker asks all others to stop: it has no time to lose.
const leaveRequestTimeout = 2 * time.Second

// wish is a worker's wish to leave, and what became of it.
type leaveRequest struct {
	code   atomic.Int32              // that it asked with; 0: it did not
	sentAt atomic.Pointer[time.Time] // with the monotonic clock; nil: it did not
	stop   atomic.Int32              // code that all are to stop with; 0: not yet known
	by     atomic.Int32              // 1 + the rank that alone was told to, for which all stop; 0: not known, or not one alone
	alone  atomic.Bool               // this worker alone is to leave
}

// RequestLeave says that a signal has told this worker to end, with code. What comes
// of it is seen by Stopping and Departing: all stop, if all were told so or if
// nobody can be replaced, else this worker leaves alone. Only the first call
// counts.
func (s *Session) RequestLeave(code int) {
	if !s.leaveRequest.code.CompareAndSwap(0, int32(code)) {
		return
	}
	s.leaveRequest.noteSent()
	if !s.recovers { // the answer is known; the others are to learn whom the signal was for
		s.leaveRequest.stop.CompareAndSwap(0, int32(code))
		s.enqueue(leavingMessage(int32(code)))
		return
	}
	if q := s.leaveRequest.message(); q != nil {
		s.enqueue(q)
	}
}

// again is the question, to be asked now; nil if there is none that is open.
// Each generation is asked anew.
func (w *leaveRequest) message() *pb.WorkerMessage {
	code := w.code.Load()
	if code == 0 || w.stop.Load() != 0 || w.alone.Load() {
		return nil
	}
	w.noteSent()
	return leavingMessage(code)
}

func (w *leaveRequest) noteSent() {
	now := time.Now()
	w.sentAt.Store(&now)
}

// late reports whether the rendezvous has had its time to answer.
func (w *leaveRequest) overdue() bool {
	at := w.sentAt.Load()
	return at != nil && time.Since(*at) > leaveRequestTimeout
}

func leavingMessage(code int32) *pb.WorkerMessage {
	return &pb.WorkerMessage{What: &pb.WorkerMessage_Leaving{Leaving: &pb.Leaving{ExitCode: code}}}
}

// Stopping is the exit code that all workers are to stop with, 0 for none. It
// never blocks.
func (s *Session) Stopping() int {
	w := &s.leaveRequest
	if code := w.stop.Load(); code != 0 {
		return int(code)
	}
	if code := w.code.Load(); code != 0 && !w.alone.Load() && w.overdue() {
		return int(code)
	}
	return 0
}

// StoppedBy is the rank that alone was told to end by a signal, where all stop for
// it. It is -1 if nobody was alone with it, and as long as the rendezvous has not
// said so: it has when Leave returns.
func (s *Session) StoppedBy() int {
	if by := int(s.leaveRequest.by.Load()); by > 0 && by <= s.Membership().Size() {
		return by - 1
	}
	return -1
}

// Departing tells whether this worker alone is to leave. It never blocks.
func (s *Session) Departing() bool { return s.leaveRequest.alone.Load() }
