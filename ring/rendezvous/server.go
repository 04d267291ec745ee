package rendezvous

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"ringtrain/ring"
	"ringtrain/ring/phrase"
	"ringtrain/ring/port"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
	"ringtrain/ring/token"
)

// Limits of a server.
const (
	tickEvery = 100 * time.Millisecond
	maxProbes = 32 // at the same time
)

// ServerConfig holds the settings of a Server.
type ServerConfig struct {
	JobID        string        // "": the job id of the first join, else a random one
	WorldSize    int           // 0: the world size of the first join
	Token        token.Token   // the job's secret
	StartTimeout time.Duration // from the first join to the last; 0: DefaultStartTimeout
	Lease        time.Duration // a worker that is silent for this time is lost; 0: DefaultLease; at least 1 s
	Addrs        []string      // configured address of each rank, if known; probed while the rank is missing
	Restarts     int           // number of lost workers that may be replaced in all; 0: none, or as the workers of a job that goes on know it
	Unique       bool          // no other rendezvous can serve this job, and the owner ends the processes of lost ranks: a launcher

	// Probe returns why a rank is missing, in words for people, or whether a member still listens. nil:
	// the built-in probes.
	Probe func(ctx context.Context, p state.Probe) state.Probed
	// Strangers returns who has come to the port and proved nothing. It may be nil.
	Strangers func() port.Strangers
	// Notice is called with texts for people. It may be nil.
	Notice     func(text string)
	NoticeSink state.NoticeSink // whether rank 0 receives notices too
}

// Server is the rendezvous of one job, from its start to its end.
type Server struct {
	config     ServerConfig
	started    time.Time
	addr       string
	grpc       *grpc.Server
	served     chan struct{}   // closed when grpc has ended
	instance   uint64          // random, of this rendezvous
	ctx        context.Context // ends with Close
	cancel     context.CancelFunc
	done       chan struct{}  // closed at the end of the job
	lease      atomic.Int64   // current lease in milliseconds
	probeSlots chan struct{}  // holds one element per running probe
	wg         sync.WaitGroup // all goroutines and handlers
	notices    chan string    // for the owner, which may read them slowly
	givenUp    chan int       // see GivenUp
	strangers  strangerWatch  // of the goroutine tick

	mu         sync.Mutex // guards what follows
	state      *state.State
	clients    map[uint64]*clientStream
	lastStream uint64        // number of the newest stream
	clientLeft chan struct{} // closed and replaced when a client leaves
	told       int           // number of clients that were told the cause of the end and have left
	probing    map[probing]bool
	record     *pb.Record  // of the newest generation, shared by all messages
	closed     bool        // no more clients
	cause      *ring.Cause // of the end of the job

	jobID atomic.Pointer[string] // a copy of the state's job id, read without mu
}

// newServer starts the rendezvous of a job at addr, without a listener.
func newServer(c ServerConfig, addr string) *Server {
	c.StartTimeout = cmp.Or(c.StartTimeout, DefaultStartTimeout)
	c.Lease = max(cmp.Or(c.Lease, DefaultLease), time.Second)
	if c.Probe == nil {
		c.Probe = func(ctx context.Context, p state.Probe) state.Probed { return probe(ctx, p, c.Token) }
	}
	s := &Server{
		config: c, started: time.Now(), instance: mathrand.Uint64() | 1, clients: map[uint64]*clientStream{}, probing: map[probing]bool{},
		clientLeft: make(chan struct{}), done: make(chan struct{}), probeSlots: make(chan struct{}, maxProbes),
		notices: make(chan string, maxNotices),
		givenUp: make(chan int, ring.MaxWorldSize), addr: addr, served: make(chan struct{}), strangers: strangerWatch{seen: c.Strangers, addr: addr},
	}
	s.lease.Store(c.Lease.Milliseconds())
	if c.Restarts == 0 && !c.Unique {
		c.Restarts = -1
	}
	s.state = state.New(state.Config{
		JobID: phrase.Name(c.JobID), DefaultJobID: drawJobID(), WorldSize: c.WorldSize, StartTimeout: c.StartTimeout,
		Lease: c.Lease, Addrs: c.Addrs, Restarts: c.Restarts, Unique: c.Unique, NoticeSink: c.NoticeSink, HostID: Self("").HostID,
		Instance: s.instance, NewLife: drawLife,
	})
	job := s.state.JobID()
	s.jobID.Store(&job)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.wg.Go(s.tick)
	if c.Notice != nil {
		go s.deliverNotices() // Close does not wait for a terminal that blocks
	}
	return s
}

// maxNotices is the number of notices that wait for a slow owner. Later ones are dropped.
const maxNotices = 64

// deliverNotices passes notices to the owner until Close, and then the remaining ones.
func (s *Server) deliverNotices() {
	for {
		select {
		case text := <-s.notices:
			s.config.Notice(text)
		case <-s.ctx.Done():
			for len(s.notices) > 0 {
				s.config.Notice(<-s.notices)
			}
			return
		}
	}
}

// tellOwner passes a text to the owner. It does not block.
func (s *Server) tellOwner(text string) {
	select {
	case s.notices <- text:
	default: // the owner does not read
	}
}

// GivenUp returns the ranks that are lost while their processes may still run: the launcher should
// end the processes.
func (s *Server) GivenUp() <-chan int { return s.givenUp }

// drawLife draws the name of a life.
func drawLife() (life [16]byte) {
	rand.Read(life[:]) // crypto/rand.Read returns no error
	return life
}

func drawJobID() string {
	var b [4]byte
	rand.Read(b[:]) // crypto/rand.Read returns no error
	return "job-" + hex.EncodeToString(b[:])
}

// JobID returns the job id, "" while it is not known. It does not block.
func (s *Server) JobID() string { return *s.jobID.Load() }

// Started reports that the launcher starts a process for a rank.
func (s *Server) Started(rank int) { s.step(state.ProcessStarted{Rank: rank}) }

// Lost reports that the process of a rank has ended without leaving. code is the exit code of the
// other ranks if the job ends by this. With a code of 128 or more the rank may be started again, if
// restarts are left and the rank is not in a crash loop. The verdict says whether. After the end of
// the job Lost has no effect.
func (s *Server) Lost(rank int, text string, code int) state.Verdict {
	s.step(state.ProcessExited{Rank: rank, Text: phrase.Foreign(text, phrase.MaxText), Code: code})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.state.Finished() {
		return state.Verdict{}
	}
	return state.Verdict{Again: true, After: s.state.RestartDelay(rank)}
}

// RestartsLeft returns how many more lost workers may be replaced.
func (s *Server) RestartsLeft() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.RestartsLeft()
}

// GaveUp returns why the job was given up, if it was.
func (s *Server) GaveUp() state.GaveUp {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.GaveUp()
}

// LostForGood is Lost for a rank that is not started again: the job ends.
func (s *Server) LostForGood(rank int, text string, code int) {
	s.step(state.ProcessExited{Rank: rank, Text: phrase.Foreign(text, phrase.MaxText), Code: code, Final: true})
}

// Abort ends the job with c for all workers, unless it has ended.
func (s *Server) Abort(c *ring.Cause) { s.step(state.Aborted{Cause: c}) }

// StopAll makes all workers stop at one step, save their state and end with code. From then on a
// loss ends the job, even if restarts are left.
func (s *Server) StopAll(code int) { s.step(state.StopAll{Code: code}) }

// Cause returns the first cause of the job's end. It is nil before the end and after a clean end.
func (s *Server) Cause() *ring.Cause {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}

// Stopped returns the rank that a signal told to end, so that all workers stop, with the exit code
// of all. It is nil if the workers do not stop. The rank is -1 for the launcher or for several
// ranks. It is not the cause of an end that is not clean.
func (s *Server) Stopped() *ring.Cause {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Stopped()
}

// Done returns a channel that is closed when the job has ended.
func (s *Server) Done() <-chan struct{} { return s.done }

func (s *Server) tick() {
	t := time.NewTicker(tickEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.noteStrangers()
			s.step(state.Tick{})
		case <-s.done:
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// step passes an event to the state and performs the effects. It waits for no client. After Close it does nothing: streams that break then are no losses.
func (s *Server) step(e state.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	for _, f := range s.state.Step(time.Since(s.started), e) {
		s.perform(f)
	}
	if s.cause != nil {
		s.cause = s.state.Cause() // the state may have raised the step of the cause
	}
	if job := s.state.JobID(); job != s.JobID() {
		s.jobID.Store(&job)
	}
}

// perform performs one effect. It is called with s.mu held.
func (s *Server) perform(f state.Effect) {
	switch f := f.(type) {
	case state.SendWaiting:
		s.send(f.Stream, outgoing{msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Waiting{Waiting: wire.EncodeWaiting(f.Waiting)}}})
	case state.SendMembership:
		s.send(f.Stream, outgoing{msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Membership{Membership: s.membership(f)}}})
	case state.SendEndGeneration:
		s.send(f.Stream, outgoing{msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_EndGeneration{EndGeneration: endGenerationMessage(f)}}})
	case state.SendResumed:
		s.send(f.Stream, outgoing{msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Resumed{Resumed: &pb.Resumed{}}}})
	case state.SendStop:
		s.send(f.Stream, outgoing{msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Stop{Stop: &pb.Stop{ExitCode: int32(f.Code), By: int32(f.By + 1)}}}})
	case state.SendNotice:
		s.send(f.Stream, outgoing{msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Notice{Notice: &pb.Notice{Text: phrase.Foreign(f.Text, phrase.MaxText)}}}})
	case state.RankAbandoned:
		select {
		case s.givenUp <- f.Rank:
		default: // no launcher receives
		}
	case state.Notify:
		s.tellOwner(f.Text)
	case state.SendRefused:
		m := s.refusal(f.Worker, f.Cause)
		if f.Replaced {
			m.onSend = nil // the worker goes on
		}
		s.send(f.Stream, m)
	case state.SendAbort:
		s.send(f.Stream, outgoing{last: true, msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Abort{Abort: wire.EncodeCause(f.Cause)}}})
	case state.SendEnd:
		s.send(f.Stream, outgoing{last: true, msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_End{End: &pb.End{}}}})
	case state.CloseStream:
		s.send(f.Stream, outgoing{})
	case state.SetLease:
		s.lease.Store(f.Lease.Milliseconds())
	case state.Probe:
		s.probe(f)
	case state.Finish:
		s.cause = f.Cause
		close(s.done)
	}
}

func (s *Server) membership(f state.SendMembership) *pb.Membership {
	if s.record == nil || wire.DecodeFence(s.record.Fence) != f.Record.Fence {
		s.record = wire.EncodeRecord(f.Record)
	}
	p := &pb.Membership{Rank: int32(f.Membership.Rank), Record: s.record, Lost: wire.EncodeRanks(f.Lost)}
	if f.Cause != nil {
		p.Cause = wire.EncodeCause(f.Cause)
	}
	return p
}

func endGenerationMessage(f state.SendEndGeneration) *pb.EndGeneration {
	p := &pb.EndGeneration{Fence: wire.EncodeFence(f.Fence), Lost: wire.EncodeRanks(f.Lost), Incarnations: f.Incarnations, Cause: wire.EncodeCause(f.Cause)}
	if f.First != nil {
		p.First = wire.EncodeCause(f.First)
	}
	return p
}

func (s *Server) send(stream uint64, m outgoing) {
	if client := s.clients[stream]; client != nil {
		client.enqueue(m)
	}
}

// probe probes a rank in the background. A rank has at most one probe of a kind at a time.
func (s *Server) probe(p state.Probe) {
	what := probing{p.Rank, p.Incarnation}
	if s.closed || s.probing[what] {
		return
	}
	s.probing[what] = true
	s.wg.Go(func() {
		var answer state.Probed
		select {
		case s.probeSlots <- struct{}{}:
			answer = s.config.Probe(s.ctx, p)
			<-s.probeSlots
		case <-s.ctx.Done():
		}
		s.mu.Lock()
		delete(s.probing, what)
		s.mu.Unlock()
		if s.ctx.Err() == nil {
			answer.Rank, answer.Incarnation, answer.Reason = p.Rank, p.Incarnation, phrase.Name(answer.Reason)
			s.step(answer)
		}
	})
}

// probing names a running probe.
type probing struct {
	rank        int
	incarnation uint64
}
