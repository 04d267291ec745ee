package rendezvous

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"ringtrain/ring"
	"ringtrain/ring/rendezvous/internal/sanitize"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/journal"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
	"ringtrain/ring/token"
)

// Limits of a server.
const (
	tickEvery = 200 * time.Millisecond
	maxProbes = 32 // at a time
)

// ServerConfig is what a Server is told beforehand.
type ServerConfig struct {
	JobID        string          // "": the first join's, else drawn
	WorldSize    int             // 0: the first join says it
	Token        token.Token     // the job's secret
	StartTimeout time.Duration   // from the first join to the last; 0: DefaultStartTimeout
	Lease        time.Duration   // who is silent for so long is lost; 0: DefaultLease; at least 1 s
	Addrs        []string        // configured address of each rank, if known: asked why a rank is missing
	Restarts     int             // how many lost workers may be replaced in all
	Journal      journal.Journal // nil: who loses the rendezvous has lost the job; the Server closes it

	// Probe returns, in words, why a rank does not come; nil: the built-in one.
	Probe func(ctx context.Context, p state.Probe) string
	// Refused is called for each worker that was refused alone; may be nil. Of
	// one with a wrong token only the rank that it claims is known.
	WorkerRefused func(w ring.Worker, c *ring.Cause)
	// GivenUp is called for each rank that counts as lost while its process seems to
	// live: whoever has started it should end it. It must not block; may be nil.
	RankAbandoned func(rank int)
	// Notice is told what a person should know; may be nil.
	Notice     func(text string)
	NoticeSink state.NoticeSink // whether rank 0 is told that too
}

// Server is the rendezvous of one job, from its start to its end. The gRPC
// server that carries it is the caller's.
type Server struct {
	config     ServerConfig
	started    time.Time
	ctx        context.Context // until Close
	cancel     context.CancelFunc
	done       chan struct{}  // closed at the end of the job
	lease      atomic.Int64   // as it is by now, in milliseconds
	probeSlots chan struct{}  // one for each probe at a time
	wg         sync.WaitGroup // everything that runs
	notices    chan string    // for the owner, who may be slow to take them
	jobs       *Jobs          // whose lobby this is; nil: it is the rendezvous of a job

	mu         sync.Mutex // guards what follows
	state      *state.State
	clients    map[uint64]*clientStream
	lastStream uint64        // number of the last one
	clientLeft chan struct{} // closed, and made anew, when a visitor goes
	probing    map[int]bool  // ranks that are being probed
	roster     roster        // of the newest generation; all share it
	closed     bool          // no more visitors
	cause      *ring.Cause   // of the end

	backlog          state.Backlog // what waits for the journal
	writingSince     time.Time     // since when the journal writes its first record
	recordQueued     chan struct{} // has room for one: there is a record in the backlog
	journalAbandoned bool          // the journal cannot be written, and is not used any more

	jobID atomic.Pointer[string] // for those who must not wait
}

// NewServer starts the rendezvous of a job. It must be closed.
func NewServer(c ServerConfig) *Server {
	c.StartTimeout = cmp.Or(c.StartTimeout, DefaultStartTimeout)
	c.Lease = max(cmp.Or(c.Lease, DefaultLease), time.Second)
	if c.Probe == nil {
		c.Probe = probe
	}
	s := &Server{
		config: c, started: time.Now(), clients: map[uint64]*clientStream{}, probing: map[int]bool{},
		clientLeft: make(chan struct{}), done: make(chan struct{}), probeSlots: make(chan struct{}, maxProbes),
		notices: make(chan string, maxNotices), recordQueued: make(chan struct{}, 1),
	}
	s.lease.Store(c.Lease.Milliseconds())
	sc := state.Config{
		JobID: sanitize.Name(c.JobID), DefaultJobID: drawJobID(), WorldSize: c.WorldSize, StartTimeout: c.StartTimeout,
		Lease: c.Lease, Addrs: c.Addrs, Restarts: c.Restarts, HasJournal: c.Journal != nil,
		NoticeSink: c.NoticeSink, HostID: Self("").HostID,
	}
	s.state = state.New(sc)
	if c.Journal != nil {
		s.state = state.Restore(sc, c.Journal.Records())
	}
	job := s.state.JobID()
	s.jobID.Store(&job)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.wg.Go(s.tick)
	if c.Journal != nil {
		s.wg.Go(s.writeJournal)
	}
	if c.Notice != nil {
		go s.deliverNotices() // Close does not wait for a terminal that takes nothing
	}
	return s
}

// mostNotices is how many notices wait for an owner that is slow; more are lost.
const maxNotices = 64

// tellOwner hands out notices until Close, and then what is left.
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

func drawJobID() string {
	var b [4]byte
	rand.Read(b[:]) // never fails
	return "job-" + hex.EncodeToString(b[:])
}

// Register puts the rendezvous on a gRPC server, next to whatever it carries.
// [ServerOptions] are for one that carries nothing else.
func (s *Server) Register(r grpc.ServiceRegistrar) { pb.RegisterRendezvousServer(r, service{s: s}) }

// JobID returns the job's id, "" as long as nobody has joined and none was given. It
// never waits.
func (s *Server) JobID() string { return *s.jobID.Load() }

// Started says that the launcher starts a process for a rank.
func (s *Server) Started(rank int) { s.step(state.ProcessStarted{Rank: rank}) }

// Lost says that the process of a rank has ended without taking leave, as its
// launcher saw; code is what the other ranks are to end with, if the job ends by
// it. With a code of 128 or more the rank may be started again, as long as
// restarts are left and it is in no loop: the verdict says so. After the end it means
// nothing.
func (s *Server) Lost(rank int, text string, code int) state.Verdict {
	s.step(state.ProcessExited{Rank: rank, Text: sanitize.Line(text, sanitize.MaxText), Code: code})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.state.Finished() {
		return state.Verdict{}
	}
	return state.Verdict{Again: true, After: s.state.RestartDelay(rank)}
}

// RestartsLeft is how many more lost workers may be replaced.
func (s *Server) RestartsLeft() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.RestartsLeft()
}

// GaveUp says why the job was given up, if it was.
func (s *Server) GaveUp() state.GaveUp {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.GaveUp()
}

// LostForGood is Lost of a rank that is not started again: the job ends.
func (s *Server) LostForGood(rank int, text string, code int) {
	s.step(state.ProcessExited{Rank: rank, Text: sanitize.Line(text, sanitize.MaxText), Code: code, Final: true})
}

// Abort ends the job with c for all workers, unless it has ended.
func (s *Server) Abort(c *ring.Cause) { s.step(state.Aborted{Cause: c}) }

// StopAll makes all workers stop at one step, with their state saved, and end
// with code. From now on a loss ends the job, whatever restarts are left.
func (s *Server) StopAll(code int) { s.step(state.StopAll{Code: code}) }

// Cause returns the first cause of the job's end; nil while all is well and
// after a clean end.
func (s *Server) Cause() *ring.Cause {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cause
}

// Stopped says whom a signal has told to end, so that all workers stop or have
// stopped, with the code that they end with; nil if none has. The rank is -1 where it
// was the launcher, or several ranks. It is no cause of an end that is not clean.
func (s *Server) Stopped() *ring.Cause {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.state.Stopped()
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
		n, gone := len(s.clients), s.clientLeft
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
	if s.config.Journal != nil {
		s.config.Journal.Close()
	}
}

func (s *Server) tick() {
	t := time.NewTicker(tickEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			s.step(state.Tick{})
		case <-s.done:
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// step hands an event to the state and does what it wants done. Nothing in here waits
// for anybody, nor for a disk. After Close nothing happens any more: streams that break
// then are no losses.
func (s *Server) step(e state.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if _, ok := e.(state.Tick); ok {
		e = state.Tick{JournalDelay: s.journalDelay()}
	}
	s.perform(s.state.Step(time.Since(s.started), e))
	if s.cause != nil {
		s.cause = s.state.Cause() // with a later step, perhaps
	}
	if job := s.state.JobID(); job != s.JobID() {
		s.jobID.Store(&job)
	}
}

// do is called with s.mu held.
func (s *Server) performOne(f state.Effect) {
	switch f := f.(type) {
	case state.SendWaiting:
		s.send(f.Stream, outgoing{msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Waiting{Waiting: wire.EncodeWaiting(f.Waiting)}}})
	case state.SendMembership:
		s.send(f.Stream, outgoing{msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Membership{Membership: s.membership(f)}}})
	case state.SendEndGeneration:
		s.send(f.Stream, outgoing{msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_EndGeneration{EndGeneration: &pb.EndGeneration{
			Generation: f.Generation, Lost: wire.EncodeRanks(f.Lost), Cause: wire.EncodeCause(f.Cause),
		}}}})
	case state.SendResumed:
		s.send(f.Stream, outgoing{msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Resumed{Resumed: &pb.Resumed{}}}})
	case state.SendStop:
		s.send(f.Stream, outgoing{msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Stop{Stop: &pb.Stop{ExitCode: int32(f.Code), By: int32(f.By + 1)}}}})
	case state.SendLeaveAlone:
		s.send(f.Stream, outgoing{msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_LeaveAlone{LeaveAlone: &pb.LeaveAlone{}}}})
	case state.SendNotice:
		s.send(f.Stream, outgoing{msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Notice{Notice: &pb.Notice{Text: sanitize.Line(f.Text, sanitize.MaxText)}}}})
	case state.RankAbandoned:
		if s.config.RankAbandoned != nil {
			s.config.RankAbandoned(f.Rank)
		}
	case state.Notify:
		select {
		case s.notices <- f.Text:
		default: // nobody reads what we say
		}
	case state.SendRefused:
		l := s.refusal(f.Worker, f.Cause)
		if f.Replaced {
			l.onSend = nil // nobody was refused
		}
		s.send(f.Stream, l)
	case state.SendAbort:
		s.send(f.Stream, outgoing{last: true, msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_Abort{Abort: wire.EncodeCause(f.Cause)}}})
	case state.SendEnd:
		s.send(f.Stream, outgoing{last: true, msg: &pb.RendezvousMessage{What: &pb.RendezvousMessage_End{End: &pb.End{}}}})
	case state.SetLease:
		s.lease.Store(f.Lease.Milliseconds())
	case state.Probe:
		s.probe(f)
	case state.Finish:
		s.cause = f.Cause
		close(s.done)
	}
}

// roster is the list of workers of a generation, as it goes over the wire.
type roster struct {
	generation uint64
	workers    []*pb.Worker
}

func (s *Server) membership(f state.SendMembership) *pb.Membership {
	m := f.Membership
	if s.roster.generation != m.Generation {
		s.roster = roster{m.Generation, wire.EncodeWorkers(m.Workers)}
	}
	p := &pb.Membership{
		JobId: m.JobID, Generation: m.Generation, Rank: int32(m.Rank), Workers: s.roster.workers, Lost: wire.EncodeRanks(f.Lost),
		Choices: wire.EncodeChoices(m.Choices),
	}
	if f.Cause != nil {
		p.Cause = wire.EncodeCause(f.Cause)
	}
	return p
}

func (s *Server) send(stream uint64, l outgoing) {
	if v := s.clients[stream]; v != nil {
		v.enqueue(l)
	}
}

// probe asks in the background, once at a time for each rank.
func (s *Server) probe(p state.Probe) {
	if s.closed || s.probing[p.Rank] {
		return
	}
	s.probing[p.Rank] = true
	s.wg.Go(func() {
		why := ""
		select {
		case s.probeSlots <- struct{}{}:
			why = s.config.Probe(s.ctx, p)
			<-s.probeSlots
		case <-s.ctx.Done():
		}
		s.mu.Lock()
		delete(s.probing, p.Rank)
		s.mu.Unlock()
		if why != "" && s.ctx.Err() == nil {
			s.step(state.Probed{Rank: p.Rank, Reason: sanitize.Name(why), Refused: why == refusedReason})
		}
	})
}
