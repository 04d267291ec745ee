package rendezvous

import (
	"sync/atomic"
	"time"

	pb "ringtrain/ring/ringpb"
)

// leaveAloneAfter is how long a worker that requested to leave waits for a stop of all.
const leaveAloneAfter = 1 * time.Second

// leaveRequest is a worker's request to leave, with its answer.
type leaveRequest struct {
	code  atomic.Int32              // exit code of the request; 0: no request
	since atomic.Pointer[time.Time] // time of the request; nil: none
	stop  atomic.Int32              // exit code with which all workers stop; 0: not known yet
	by    atomic.Int32              // 1 + the one rank that a signal told to end; 0: not known, or not one alone
	beat  atomic.Uint64             // last heartbeat before the request
	alone atomic.Bool               // this worker leaves alone
}

// RequestLeave requests to leave, because a signal told this worker to end with code. Stopping and
// Leaving report the answer. All workers stop if all were told to end, if no worker can be replaced,
// or if the rendezvous is not reached. Otherwise this worker leaves alone. Only the first call counts.
func (s *Session) RequestLeave(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &s.leaveRequest
	if !r.code.CompareAndSwap(0, int32(code)) {
		return
	}
	now := time.Now()
	r.beat.Store(s.control.lastBeat())
	r.since.Store(&now)
	s.control.enqueue(leavingMessage(int32(code)))
}

// message returns the request to be sent now, nil if there is none or it is answered. The request
// is sent again in each generation and on each connection.
func (r *leaveRequest) message() *pb.WorkerMessage {
	code := r.code.Load()
	if code == 0 || r.stop.Load() != 0 || r.alone.Load() {
		return nil
	}
	return leavingMessage(code)
}

func leavingMessage(code int32) *pb.WorkerMessage {
	return &pb.WorkerMessage{What: &pb.WorkerMessage_Leaving{Leaving: &pb.Leaving{ExitCode: code}}}
}

// Stopping returns the exit code with which all workers stop, 0 if they go on. It does not block.
func (s *Session) Stopping() int {
	r := &s.leaveRequest
	if code := r.code.Load(); code != 0 && r.stop.Load() == 0 && !r.alone.Load() {
		if known, _ := s.known(); known.RestartsLeft() == 0 || !s.Reached() {
			r.stop.CompareAndSwap(0, code)
		}
	}
	return int(r.stop.Load())
}

// Leaving reports whether this worker leaves alone: it was told to end, and a second later it has
// heard of no stop of all although the rendezvous hears it. Leaving does not block.
func (s *Session) Leaving() bool {
	r := &s.leaveRequest
	if since := r.since.Load(); since != nil && s.Stopping() == 0 && time.Since(*since) >= leaveAloneAfter && s.control.hasHeard(r.beat.Load()+1) {
		r.alone.Store(true)
	}
	return r.alone.Load()
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
