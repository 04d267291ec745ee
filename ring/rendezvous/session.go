package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
)

// Limits of a session.
const (
	abortTimeout = 1 * time.Second        // from Abort to the first cause
	closeTimeout = 500 * time.Millisecond // for the rendezvous to see the close
)

// Session is the part of a worker in a job, from one generation to the next. It sends heartbeats by
// itself, and it dials the rendezvous again when it is not heard: a broken stream ends nothing.
// Several goroutines may call its methods; Outcome and Next are called by one goroutine at a time.
type Session struct {
	options *Options
	lease   atomic.Int64 // current lease in nanoseconds

	waitingReports chan state.Waiting
	waitSource     atomic.Pointer[func() ring.Wait] // see SetWaitSource
	leaveRequest   leaveRequest
	control        control
	strangers      strangerWatch // of the goroutine run

	mu         sync.Mutex // guards what follows
	generation *generation
	record     state.Record // what this worker knows of the job; without a generation before the first one
	rank       int          // in the generation of the record
	doing      state.Doing
	suspicion  *ring.Cause // reported in this generation; nil: none
	step       int64
	phase      string
	endErr     error // set when the session has ended

	ctx    context.Context
	cancel context.CancelFunc

	once           sync.Once     // guards the next four fields
	over           chan struct{} // closed at the end of the session
	cause          *ring.Cause   // set before over is closed; nil: a clean end or Close
	fromRendezvous bool          // the end came from the rendezvous
	refused        bool          // the end concerns this worker alone

	wg sync.WaitGroup
}

// newSession starts a session on conn with the first message.
func newSession(ctx context.Context, o *Options, conn *connection, first *pb.WorkerMessage) *Session {
	s := &Session{options: o, strangers: strangerWatch{seen: o.Strangers, addr: o.Self.Addr}, step: -1, waitingReports: make(chan state.Waiting, 1), over: make(chan struct{})}
	s.lease.Store(int64(conn.lease))
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.generation = newGeneration(context.WithoutCancel(ctx))
	s.control.init()
	s.useConnection(conn, func() []*pb.WorkerMessage { return []*pb.WorkerMessage{first} })
	s.wg.Go(s.run)
	return s
}

// Membership returns the membership of the current generation.
func (s *Session) Membership() ring.Membership { return s.current().membership }

// Lost returns the ranks that the previous generation lost, and the cause of its end, whose Step is
// the last one that is known to have been completed in it. Both are nil in the first generation.
func (s *Session) Lost() ([]int, *ring.Cause) {
	g := s.current()
	return g.previousLost, g.previousCause
}

// Context returns a context that ends with the generation. Its cause wraps ring.ErrGenerationEnded
// and the *ring.Cause, and has the exit code. After a clean end the context lasts until Close.
func (s *Session) Context() context.Context { return s.current().ctx }

func (s *Session) current() *generation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.generation
}

// known returns what this worker knows of the job, and its rank.
func (s *Session) known() (state.Record, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.record, s.rank
}

// Progress sets the step and the phase of the next heartbeats. It does not block.
func (s *Session) Progress(step int64, phase string) {
	s.mu.Lock()
	s.step, s.phase = step, phase
	s.mu.Unlock()
}

// Formed notes that the first collective operation of the current generation has ended: all workers
// have taken its membership.
func (s *Session) Formed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if isClosed(s.generation.started) {
		s.record.Complete()
	}
}

// SetWaitSource makes the heartbeats of this generation carry the result of wait. Each heartbeat
// calls wait once, from another goroutine.
func (s *Session) SetWaitSource(wait func() ring.Wait) { s.waitSource.Store(&wait) }

// Lease returns how long a worker may currently be silent.
func (s *Session) Lease() time.Duration { return time.Duration(s.lease.Load()) }

// Reached reports whether the rendezvous hears this worker.
func (s *Session) Reached() bool { return s.control.reached(s.Lease()) }

// Follows returns the instance of the rendezvous to which this worker is connected, 0 if it is not.
func (s *Session) Follows() uint64 { return s.control.follows() }

// reportCause reports what went wrong, unless the generation has ended. The answer is the end of
// the generation or of the job. Abort and Outcome wait for it. A beat goes first: the rendezvous must know
// how far this worker was.
func (s *Session) reportCause(c *ring.Cause) {
	b := s.beat()
	b.Number = s.control.lastBeat()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.generation.ctx.Err() == nil {
		s.suspicion = c
		s.control.enqueue(beatMessage(b))
		s.control.enqueue(abortMessage(c))
	}
}

func abortMessage(c *ring.Cause) *pb.WorkerMessage {
	return &pb.WorkerMessage{What: &pb.WorkerMessage_Abort{Abort: wire.EncodeCause(c)}}
}

// Abort ends the worker's part with c and returns the first cause of the generation's or the job's
// end. That is c unless another cause came first. It is also c if the rendezvous does not answer
// within a second or is lost meanwhile. If the rendezvous is lost and c blames another worker for a
// failed exchange, the loss is the first cause: rank 0 may have served the rendezvous.
func (s *Session) Abort(c *ring.Cause) *ring.Cause {
	g := s.current()
	if isClosed(s.over) && s.cause != nil {
		return s.cause
	}
	s.reportCause(c)
	timer := time.NewTimer(abortTimeout)
	defer timer.Stop()
	select {
	case <-g.ended:
		return g.cause
	case <-s.over:
		return s.firstCause(c)
	case <-timer.C:
		s.end(c, false, false)
		return c
	}
}

// firstCause returns the job's first cause for a worker that has reported c. over is closed.
func (s *Session) firstCause(c *ring.Cause) *ring.Cause {
	_, rank := s.known()
	suspicion := c == nil || c.ExitCode == exitcode.Retry && c.Rank != rank
	switch {
	case s.refused && c != nil && c.Rank == rank:
		return c // c is why the rendezvous refused the worker
	case s.cause != nil && (s.fromRendezvous || suspicion):
		return s.cause
	case c == nil:
		return &ring.Cause{Rank: -1, Step: -1, Text: "the job has ended", ExitCode: exitcode.Retry}
	}
	return c // c came after the clean end
}

// Leave reports that this worker has done its work, and waits until all workers have done so. Then
// it returns nil, and closing is no fault. Otherwise the error holds the first cause of the job's
// or the generation's end. If the rendezvous is not reached for the lease, nobody confirms the end,
// and Leave says so and returns nil.
func (s *Session) Leave(ctx context.Context) error {
	g := s.current()
	s.mu.Lock()
	s.doing = state.WorkDone
	s.control.enqueue(&pb.WorkerMessage{What: &pb.WorkerMessage_Leave{Leave: &pb.Leave{}}})
	s.mu.Unlock()
	unreached := time.NewTicker(s.Lease() / 10)
	defer unreached.Stop()
	for done := false; !done; {
		select {
		case <-s.over:
			done = true
		case <-g.ended:
			return g.cause.GenerationEnded()
		case <-ctx.Done():
			return fmt.Errorf("leave: %w", context.Cause(ctx))
		case <-unreached.C:
			if s.control.unreachedFor() >= s.Lease() {
				s.options.notify(fmt.Sprintf("the rendezvous at %s is not reached for %v: nobody has confirmed the end", s.options.Addr, s.Lease()))
				return nil
			}
		}
	}
	if s.cause != nil {
		return s.cause.GenerationEnded()
	}
	if !s.fromRendezvous {
		return errors.New("leave: session is closed")
	}
	return nil
}

// Close ends the session on this side and waits for its goroutines. Without Leave or Abort before,
// the others lose this worker. Close returns nil and may be called more than once.
func (s *Session) Close() error {
	s.end(nil, false, false)
	s.control.awaitClose(closeTimeout)
	s.wg.Wait()
	s.current().cancel(ring.ErrGenerationEnded)
	return nil
}

// end ends the session; only the first call counts. The context ends before over is closed:
// afterwards the rendezvous may learn that this worker knows the end.
func (s *Session) end(c *ring.Cause, fromRendezvous, refused bool) {
	s.once.Do(func() {
		s.cause, s.fromRendezvous, s.refused = c, fromRendezvous, refused
		if c != nil {
			s.mu.Lock()
			s.endErr = c.GenerationEnded()
			s.generation.cancel(s.endErr)
			s.mu.Unlock()
		}
		close(s.over)
		s.cancel()
	})
}

// lostCause returns the cause if the rendezvous is lost.
func (s *Session) lostCause(reason string) *ring.Cause {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &ring.Cause{Rank: -1, Step: s.step, Operation: "rendezvous", Peer: s.options.Addr, ExitCode: exitcode.Retry}
	c.Text = fmt.Sprintf("lost the rendezvous at %s: %s", s.options.Addr, reason)
	if s.options.InRank0 {
		c.Rank = 0
		if len(s.record.Workers) > 0 {
			c.Host = s.record.Workers[0].Host
		}
		c.Text = fmt.Sprintf("lost rank 0 with the rendezvous at %s: %s", s.options.Addr, reason)
	}
	return c
}
