package rendezvous

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"time"

	"google.golang.org/grpc"

	"ringtrain/ring"
	pb "ringtrain/ring/ringpb"
)

// Limits of a server.
const (
	tickEvery = 200 * time.Millisecond
	maxProbes = 32 // at a time
)

// ServerConfig is what a Server is told beforehand.
type ServerConfig struct {
	JobID        string        // "": the first join's, else drawn
	WorldSize    int           // 0: the first join says it
	Token        ring.Token    // the job's secret
	StartTimeout time.Duration // from the first join to the last; 0: DefaultStartTimeout
	Lease        time.Duration // who is silent for so long is lost; 0: DefaultLease; at least 1 s
	Listed       []string      // configured address of each rank, if known: asked why a rank is missing

	// Probe returns, in words, why nobody comes from addr; nil: the built-in one.
	Probe func(ctx context.Context, addr string) string
	// Refused is called for each worker that was refused alone; may be nil. Of
	// one with a wrong token only the rank that it claims is known.
	Refused func(w ring.Worker, c *ring.Cause)
}

// Server is the rendezvous of one job, from its start to its end. The gRPC
// server that carries it is the caller's.
type Server struct {
	c      ServerConfig
	since  time.Time
	ctx    context.Context // until Close
	cancel context.CancelFunc
	done   chan struct{}  // closed at the end of the job
	slots  chan struct{}  // one for each probe at a time
	wg     sync.WaitGroup // everything that runs

	mu       sync.Mutex // guards what follows
	state    *State
	visitors map[uint64]*visitor
	streams  uint64        // number of the last one
	gone     chan struct{} // closed, and made anew, when a visitor goes
	probing  map[int]bool  // ranks that are being probed
	roster   []*pb.Worker  // once the membership is complete; all share it
	closed   bool          // no more visitors
	cause    *ring.Cause   // of the end
}

// NewServer starts the rendezvous of a job. It must be closed.
func NewServer(c ServerConfig) *Server {
	c.StartTimeout = cmp.Or(c.StartTimeout, DefaultStartTimeout)
	c.Lease = max(cmp.Or(c.Lease, DefaultLease), time.Second)
	if c.Probe == nil {
		c.Probe = probe
	}
	s := &Server{
		c: c, since: time.Now(), visitors: map[uint64]*visitor{}, probing: map[int]bool{},
		gone: make(chan struct{}), done: make(chan struct{}), slots: make(chan struct{}, maxProbes),
	}
	s.state = NewState(StateConfig{
		JobID: name(c.JobID), Drawn: drawJobID(), WorldSize: c.WorldSize,
		StartTimeout: c.StartTimeout, Lease: c.Lease, Listed: c.Listed,
	})
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.wg.Go(s.tick)
	return s
}

func drawJobID() string {
	var b [4]byte
	rand.Read(b[:]) // never fails
	return "job-" + hex.EncodeToString(b[:])
}

// Register puts the rendezvous on a gRPC server, next to whatever it carries.
// [ServerOptions] are for one that carries nothing else.
func (s *Server) Register(r grpc.ServiceRegistrar) { pb.RegisterRendezvousServer(r, service{s: s}) }

// Lost says that the process of a rank has ended without taking leave, as its
// launcher saw; code is what the other ranks are to end with. After the end it
// means nothing.
func (s *Server) Lost(rank int, text string, code int) {
	s.step(Exited{Rank: rank, Text: line(text, maxText), Code: code})
}

// Abort ends the job with c for all workers, unless it has ended.
func (s *Server) Abort(c *ring.Cause) { s.step(Aborted{Cause: c}) }

// Cause returns the first cause of the job's end; nil while all is well and
// after a clean end.
func (s *Server) Cause() *ring.Cause {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}

// Done is closed when the job has ended, clean or not.
func (s *Server) Done() <-chan struct{} { return s.done }

// Drain waits until the job has ended and every worker that is connected has
// heard it and closed its stream, or until ctx ends. Workers that come later
// hear the cause too, for as long as the server is there.
func (s *Server) Drain(ctx context.Context) {
	select {
	case <-s.done:
	case <-ctx.Done():
		return
	}
	for {
		s.mu.Lock()
		n, gone := len(s.visitors), s.gone
		s.mu.Unlock()
		if n == 0 {
			return
		}
		select {
		case <-gone:
		case <-ctx.Done():
			return
		}
	}
}

// Close ends all streams and waits for all goroutines. A job that has not ended
// loses its rendezvous.
func (s *Server) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.wg.Wait()
}

func (s *Server) tick() {
	t := time.NewTicker(tickEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.step(Tick{})
		case <-s.done:
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// step hands an event to the state and does what it wants done. Nothing in
// here blocks.
func (s *Server) step(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, f := range s.state.Step(time.Since(s.since), e) {
		s.do(f)
	}
}

// do is called with s.mu held.
func (s *Server) do(f Effect) {
	switch f := f.(type) {
	case SendWaiting:
		s.put(f.Stream, letter{msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Waiting{Waiting: waitingToWire(f.Waiting)}}})
	case SendMembership:
		s.put(f.Stream, letter{msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Membership{Membership: s.membership(f.Membership)}}})
	case SendRefused:
		s.put(f.Stream, s.refusal(f.Worker, f.Cause))
	case SendAbort:
		s.put(f.Stream, letter{last: true, msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Abort{Abort: causeToWire(f.Cause)}}})
	case SendEnd:
		s.put(f.Stream, letter{last: true, msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_End{End: &pb.End{}}}})
	case Probe:
		s.probe(f)
	case Finish:
		s.cause = f.Cause
		close(s.done)
	}
}

func (s *Server) membership(m ring.Membership) *pb.Membership {
	if s.roster == nil {
		s.roster = rosterToWire(m.Workers)
	}
	return &pb.Membership{JobId: m.JobID, Generation: m.Generation, Rank: int32(m.Rank), Workers: s.roster}
}

func (s *Server) put(stream uint64, l letter) {
	if v := s.visitors[stream]; v != nil {
		v.put(l)
	}
}

// probe asks in the background, once at a time for each rank.
func (s *Server) probe(p Probe) {
	if s.closed || s.probing[p.Rank] {
		return
	}
	s.probing[p.Rank] = true
	s.wg.Go(func() {
		why := ""
		select {
		case s.slots <- struct{}{}:
			why = s.c.Probe(s.ctx, p.Addr)
			<-s.slots
		case <-s.ctx.Done():
		}
		s.mu.Lock()
		delete(s.probing, p.Rank)
		s.mu.Unlock()
		if why != "" && s.ctx.Err() == nil {
			s.step(Probed{p.Rank, name(why)})
		}
	})
}
