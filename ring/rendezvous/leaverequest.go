package rendezvous

import (
	"sync/atomic"
	"time"

	pb "ringtrain/ring/ringpb"
)

// leaveRequestTimeout is how long a request to leave waits for the rendezvous. Then the worker asks
// all others to stop: a signal leaves little time.
const leaveRequestTimeout = 2 * time.Second

// leaveRequest is a worker's request to leave, with its answer.
type leaveRequest struct {
	code   atomic.Int32              // exit code of the request; 0: no request
	sentAt atomic.Pointer[time.Time] // has a monotonic clock; nil: not sent
	stop   atomic.Int32              // exit code with which all workers stop; 0: not known yet
	by     atomic.Int32              // 1 + the one rank that a signal told to end; 0: not known, or not one alone
	alone  atomic.Bool               // this worker leaves alone
}

// RequestLeave requests to leave, because a signal told this worker to end with code. Stopping and
// Departing report the answer. All workers stop if all were told to end or if no worker can be
// replaced. Otherwise this worker leaves alone. Only the first call counts.
func (s *Session) RequestLeave(code int) {
	if !s.leaveRequest.code.CompareAndSwap(0, int32(code)) {
		return
	}
	s.leaveRequest.noteSent()
	if !s.recovers { // the answer is known; the other workers learn which rank the signal was for
		s.leaveRequest.stop.CompareAndSwap(0, int32(code))
		s.enqueue(leavingMessage(int32(code)))
		return
	}
	if q := s.leaveRequest.message(); q != nil {
		s.enqueue(q)
	}
}

// message returns the request to be sent now, nil if there is none or it is answered. The request
// is sent again in each generation.
func (r *leaveRequest) message() *pb.WorkerMessage {
	code := r.code.Load()
	if code == 0 || r.stop.Load() != 0 || r.alone.Load() {
		return nil
	}
	r.noteSent()
	return leavingMessage(code)
}

func (r *leaveRequest) noteSent() {
	now := time.Now()
	r.sentAt.Store(&now)
}

// overdue reports whether the time to answer is over.
func (r *leaveRequest) overdue() bool {
	at := r.sentAt.Load()
	return at != nil && time.Since(*at) > leaveRequestTimeout
}

func leavingMessage(code int32) *pb.WorkerMessage {
	return &pb.WorkerMessage{What: &pb.WorkerMessage_Leaving{Leaving: &pb.Leaving{ExitCode: code}}}
}

// Stopping returns the exit code with which all workers stop, 0 if they go on. It does not block.
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

// StoppedBy returns the one rank that a signal told to end, for which all workers stop. It returns
// -1 if there is no such rank, and before the rendezvous has answered. After Leave the answer is
// known.
func (s *Session) StoppedBy() int {
	if by := int(s.leaveRequest.by.Load()); by > 0 && by <= s.Membership().Size() {
		return by - 1
	}
	return -1
}

// Departing reports whether this worker alone leaves. It does not block.
func (s *Session) Departing() bool { return s.leaveRequest.alone.Load() }
