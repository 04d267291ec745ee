package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	pb "ringtrain/ring/ringpb"
)

// Limits of a session.
const (
	abortTimeout = 1 * time.Second        // for the first cause, after ours was sent
	closeTimeout = 500 * time.Millisecond // for the rendezvous to see the close
)

// Session is a worker's part in a generation. It beats by itself. Its methods
// may be called from several goroutines.
type Session struct {
	o          *Options
	m          *meeting
	membership ring.Membership // once started is closed
	ctx        context.Context
	cancel     context.CancelCauseFunc

	out     chan *pb.WorkerMessage
	news    chan Waiting
	started chan struct{} // closed by the membership
	quiet   atomic.Int32  // beats sent since something was heard

	mu    sync.Mutex // guards step and phase
	step  int64
	phase string

	once    sync.Once     // for what follows
	over    chan struct{} // closed at the end, however it came
	cause   *ring.Cause   // once over is closed; nil: clean end or Close
	told    bool          // the end came from the rendezvous
	refused bool          // it concerns this worker alone

	heard chan struct{} // closed when nothing more comes
	wg    sync.WaitGroup
}

// newSession opens the talk with the first message.
func newSession(ctx context.Context, o *Options, m *meeting, first *pb.WorkerMessage) *Session {
	s := &Session{
		o: o, m: m, step: -1,
		out: make(chan *pb.WorkerMessage, 2), news: make(chan Waiting, 1),
		started: make(chan struct{}), over: make(chan struct{}), heard: make(chan struct{}),
	}
	s.ctx, s.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	s.out <- first
	s.wg.Go(s.receive)
	s.wg.Go(s.send)
	return s
}

// Membership returns the workers of the generation.
func (s *Session) Membership() ring.Membership { return s.membership }

// Context ends when the generation does. Its cause wraps ring.ErrGenerationEnded
// and the *ring.Cause, and carries the exit code. After a clean end it lasts
// until Close.
func (s *Session) Context() context.Context { return s.ctx }

// Progress sets what the next heartbeats carry. It never blocks.
func (s *Session) Progress(step int64, phase string) {
	s.mu.Lock()
	s.step, s.phase = step, phase
	s.mu.Unlock()
}

// Abort ends the job with c for all workers, and returns the job's first cause:
// c, unless another came first. If the rendezvous does not answer within a
// second it is c. If it is lost meanwhile it is c too, unless c blames another
// worker for a failed exchange: rank 0 may have died with the rendezvous in it,
// and then that is the root.
func (s *Session) Abort(c *ring.Cause) *ring.Cause {
	if s.ctx.Err() != nil {
		<-s.over // end is about to close it
	}
	select {
	case <-s.over:
		if s.cause != nil {
			return s.cause
		}
		return c // too late: the others have ended well
	default:
	}
	timer := time.NewTimer(abortTimeout)
	defer timer.Stop()
	msg := &pb.WorkerMessage{What: &pb.WorkerMessage_Abort{Abort: causeToWire(c)}}
	select {
	case s.out <- msg:
	case <-s.over:
	case <-timer.C:
	}
	select {
	case <-s.over:
		hearsay := c.ExitCode == exitcode.Retry && c.Rank != s.membership.Rank
		if s.cause != nil && (s.told || hearsay) {
			return s.cause
		}
	case <-timer.C:
		s.end(c, false, false)
	}
	return c
}

// Leave says that this worker has done its work, and waits until all have said
// so. Then it returns nil, and nobody is blamed for closing. Otherwise the error
// holds the first cause.
func (s *Session) Leave(ctx context.Context) error {
	leave := &pb.WorkerMessage{What: &pb.WorkerMessage_Leave{Leave: &pb.Leave{}}}
	select {
	case s.out <- leave:
	case <-s.over:
	case <-ctx.Done():
		return fmt.Errorf("leave: %w", context.Cause(ctx))
	}
	select {
	case <-s.over:
	case <-ctx.Done():
		return fmt.Errorf("leave: %w", context.Cause(ctx))
	}
	if s.cause != nil {
		return ended(s.cause)
	}
	if !s.told {
		return errors.New("leave: session is closed")
	}
	return nil
}

// Close ends the session on this side and waits for its goroutines. Without
// Leave or Abort before it the others lose this worker. It returns nil, and may
// be called more than once.
func (s *Session) Close() error {
	s.end(nil, false, false)
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case <-s.heard:
	case <-timer.C:
	}
	s.m.close()
	s.wg.Wait()
	s.cancel(ring.ErrGenerationEnded)
	return nil
}

// end settles how the session ends; only the first call counts. The context
// ends first: once over is closed the rendezvous may hear of it, and takes it
// that this worker knows.
func (s *Session) end(c *ring.Cause, told, refused bool) {
	s.once.Do(func() {
		s.cause, s.told, s.refused = c, told, refused
		if c != nil {
			s.cancel(ended(c))
		}
		close(s.over)
	})
}

func ended(c *ring.Cause) error {
	return exitcode.With(c.ExitCode, fmt.Errorf("%w: %w", ring.ErrGenerationEnded, c))
}

// receive takes in what the rendezvous says until the stream ends.
func (s *Session) receive() {
	defer close(s.heard)
	for {
		msg, err := s.m.stream.Recv()
		if err != nil {
			why := "connection reset"
			if errors.Is(err, io.EOF) {
				why = "connection closed"
			}
			s.end(s.lost(why), false, false)
			return
		}
		s.quiet.Store(0)
		s.hear(msg)
	}
}

func (s *Session) hear(msg *pb.RendezvousMessage) {
	switch w := msg.GetWhat().(type) {
	case *pb.RendezvousMessage_Waiting:
		select {
		case s.news <- waitingFromWire(w.Waiting):
		default: // the caller is still busy with the one before
		}
	case *pb.RendezvousMessage_Membership:
		m, ok := membershipFromWire(w.Membership)
		if !ok || s.membership.Generation != 0 {
			s.end(s.o.cause(exitcode.Protocol, "the rendezvous at "+s.o.Addr+" sent a bad membership"), true, false)
			return
		}
		s.membership = m
		close(s.started)
	case *pb.RendezvousMessage_Refused:
		s.end(causeFromWire(w.Refused), true, true)
	case *pb.RendezvousMessage_Abort:
		s.end(causeFromWire(w.Abort), true, false)
	case *pb.RendezvousMessage_End:
		s.end(nil, true, false)
	}
}

// send is the only one that sends. It beats, and counts the beats that nobody
// answers: a process that stood still has sent none, and blames nobody.
func (s *Session) send() {
	every := min(BeatEvery, s.m.lease/3)
	patience := int32((s.m.lease + every - 1) / every)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		var msg *pb.WorkerMessage
		select {
		case <-s.over:
			s.m.stream.CloseSend()
			return
		case msg = <-s.out:
		case <-tick.C:
			if s.quiet.Add(1) >= patience {
				s.end(s.lost(fmt.Sprintf("silent for %v", s.m.lease)), false, false)
				continue
			}
			msg = s.beat()
		}
		if s.m.stream.Send(msg) != nil {
			return // receive knows why
		}
	}
}

func (s *Session) beat() *pb.WorkerMessage {
	s.mu.Lock()
	b := &pb.Beat{Step: s.step, Phase: name(s.phase)}
	s.mu.Unlock()
	return &pb.WorkerMessage{What: &pb.WorkerMessage_Beat{Beat: b}}
}

// lost is the cause when the rendezvous is gone.
func (s *Session) lost(why string) *ring.Cause {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &ring.Cause{Rank: -1, Step: s.step, Operation: "rendezvous", Peer: s.o.Addr, ExitCode: exitcode.Retry}
	c.Text = fmt.Sprintf("lost the rendezvous at %s: %s", s.o.Addr, why)
	if s.o.Host0 {
		c.Rank = 0
		select {
		case <-s.started:
			c.Host = s.membership.Workers[0].Host
		default:
		}
		c.Text = fmt.Sprintf("lost rank 0 with the rendezvous at %s: %s", s.o.Addr, why)
	}
	return c
}
