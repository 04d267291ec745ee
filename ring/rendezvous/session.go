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
	abortTimeout = 1 * time.Second        // for the first cause, after ours was sent
	closeTimeout = 500 * time.Millisecond // for the rendezvous to see the close
)

// Session is a worker's part in a job, from one generation to the next. It
// beats by itself. Its methods may be called from several goroutines, but Outcome
// and Next by the one that goes from a generation to the next.
type Session struct {
	options  *Options
	lease    atomic.Int64 // as the rendezvous says, in nanoseconds
	durable  bool         // the rendezvous comes back if it is lost
	recovers bool         // a generation may end without the job

	waitingReports  chan state.Waiting
	unansweredBeats atomic.Int32                     // beats sent since something was heard
	waitSource      atomic.Pointer[func() ring.Wait] // see Watch
	leaveRequest    leaveRequest

	mu             sync.Mutex // guards what follows
	generation     *generation
	lastMembership ring.Membership // of the last generation that started; its number is 0 before
	step           int64
	phase          string
	sendQueue      []*pb.WorkerMessage // to be sent
	reconnecting   atomic.Bool         // the rendezvous is lost, and is tried again
	unacked        *pb.WorkerMessage   // was sent, and is sent again after a reconnection, until it is answered
	unackedSince   time.Time           // when it was first sent
	conn           *connection         // the open one
	endErr         error               // once the session is over

	queued chan struct{} // has room for one: there is something in the queue
	ctx    context.Context
	cancel context.CancelFunc

	once           sync.Once     // for what follows
	over           chan struct{} // closed at the end, however it came
	cause          *ring.Cause   // once over is closed; nil: clean end or Close
	fromRendezvous bool          // the end came from the rendezvous
	refused        bool          // it concerns this worker alone

	receiverDone chan struct{} // closed when nothing more comes
	wg           sync.WaitGroup
}

// newSession opens the talk with the first message.
func newSession(ctx context.Context, o *Options, m *connection, first *pb.WorkerMessage) *Session {
	s := &Session{
		options: o, conn: m, durable: m.durable, recovers: m.recovers, step: -1,
		waitingReports: make(chan state.Waiting, 1), queued: make(chan struct{}, 1), over: make(chan struct{}), receiverDone: make(chan struct{}),
	}
	s.lease.Store(int64(m.lease))
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.generation = newGeneration(context.WithoutCancel(ctx))
	s.enqueue(first)
	s.wg.Go(s.run)
	return s
}

// Recovers tells whether a generation may end without the job.
func (s *Session) Recovers() bool { return s.recovers }

// Membership returns the workers of the generation.
func (s *Session) Membership() ring.Membership { return s.current().membership }

// Lost returns which ranks the generation before this one has lost, and the
// cause of its end; nil in the first.
func (s *Session) Lost() ([]int, *ring.Cause) {
	g := s.current()
	return g.previousLost, g.previousCause
}

// Context ends when the generation does. Its cause wraps ring.ErrGenerationEnded
// and the *ring.Cause, and carries the exit code. After a clean end it lasts
// until Close.
func (s *Session) Context() context.Context { return s.current().ctx }

func (s *Session) current() *generation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.generation
}

// lastKnown is the membership of the last generation that has started.
func (s *Session) lastKnown() ring.Membership {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastMembership
}

// Progress sets what the next heartbeats carry. It never blocks.
func (s *Session) Progress(step int64, phase string) {
	s.mu.Lock()
	s.step, s.phase = step, phase
	s.mu.Unlock()
}

// Watch has the next heartbeats carry what wait returns, until the generation ends.
// It is called once for each of them, from another goroutine.
func (s *Session) SetWaitSource(wait func() ring.Wait) { s.waitSource.Store(&wait) }

// Lease is how long a worker, or the rendezvous, may be silent by now.
func (s *Session) Lease() time.Duration { return time.Duration(s.lease.Load()) }

// Tell says what went wrong here, unless the generation has ended. The answer is
// the end of the generation or of the job; Abort and Outcome wait for it.
func (s *Session) reportCause(c *ring.Cause) {
	if s.current().ctx.Err() == nil {
		s.sendUntilAcked(&pb.WorkerMessage{What: &pb.WorkerMessage_Abort{Abort: wire.EncodeCause(c)}})
	}
}

// Abort ends the worker's part with c, and returns the first cause of the
// generation's end or the job's: c, unless another came first. If the rendezvous
// does not answer within a second it is c. If it is lost meanwhile it is c too,
// unless c blames another worker for a failed exchange: rank 0 may have died with
// the rendezvous in it, and then that is the root.
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

// firstCause is the job's cause for a worker that has c to say; over is closed.
func (s *Session) firstCause(c *ring.Cause) *ring.Cause {
	hearsay := c == nil || c.ExitCode == exitcode.Retry && c.Rank != s.lastKnown().Rank
	switch {
	case s.refused && c != nil && c.Rank == s.lastKnown().Rank:
		return c // it was let go because of it
	case s.cause != nil && (s.fromRendezvous || hearsay):
		return s.cause
	case c == nil:
		return &ring.Cause{Rank: -1, Step: -1, Text: "the job has ended", ExitCode: exitcode.Retry}
	}
	return c // too late: the others have ended well
}

// Leave says that this worker has done its work, and waits until all have said
// so. Then it returns nil, and nobody is blamed for closing. Otherwise the error
// holds the first cause, of the job's end or only of the generation's. For one that
// leaves alone it waits until the others have said that they go on.
func (s *Session) Leave(ctx context.Context) error {
	g := s.current()
	s.sendUntilAcked(&pb.WorkerMessage{What: &pb.WorkerMessage_Leave{Leave: &pb.Leave{}}})
	var late <-chan time.Time
	if s.Stopping() != 0 {
		t := time.NewTicker(s.Lease())
		defer t.Stop()
		late = t.C
	}
	for done := false; !done; {
		select {
		case <-s.over:
			done = true
		case <-g.ended:
			return endedError(g.cause)
		case <-ctx.Done():
			return fmt.Errorf("leave: %w", context.Cause(ctx))
		case <-late:
			if s.reconnecting.Load() { // all have agreed on this step, and nobody is there to say so
				return nil
			}
		}
	}
	if s.cause != nil {
		return endedError(s.cause)
	}
	if !s.fromRendezvous {
		return errors.New("leave: session is closed")
	}
	return nil
}

// Close ends the session on this side and waits for its goroutines. Without
// Leave or Abort before it the others lose this worker. It returns nil, and may be
// called more than once.
func (s *Session) Close() error {
	s.end(nil, false, false)
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case <-s.receiverDone:
	case <-timer.C:
	}
	s.connection().close()
	s.wg.Wait()
	s.current().cancel(ring.ErrGenerationEnded)
	return nil
}

// end settles how the session ends; only the first call counts. The context
// ends first: once over is closed the rendezvous may hear of it, and takes it
// that this worker knows.
func (s *Session) end(c *ring.Cause, told, refused bool) {
	s.once.Do(func() {
		s.cause, s.fromRendezvous, s.refused = c, told, refused
		if c != nil {
			s.mu.Lock()
			s.endErr = endedError(c)
			s.generation.cancel(s.endErr)
			s.mu.Unlock()
		}
		close(s.over)
		s.cancel()
	})
}

func endedError(c *ring.Cause) error {
	return exitcode.With(c.ExitCode, fmt.Errorf("%w: %w", ring.ErrGenerationEnded, c))
}

// lost is the cause when the rendezvous is gone.
func (s *Session) lostCause(why string) *ring.Cause {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &ring.Cause{Rank: -1, Step: s.step, Operation: "rendezvous", Peer: s.options.Addr, ExitCode: exitcode.Retry}
	c.Text = fmt.Sprintf("lost the rendezvous at %s: %s", s.options.Addr, why)
	if s.options.InRank0 {
		c.Rank = 0
		if len(s.lastMembership.Workers) > 0 {
			c.Host = s.lastMembership.Workers[0].Host
		}
		c.Text = fmt.Sprintf("lost rank 0 with the rendezvous at %s: %s", s.options.Addr, why)
	}
	return c
}
