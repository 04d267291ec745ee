package rendezvous

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
)

// Bounds of the rendezvous of many jobs.
const (
	maxJobs      = 1000
	keepEndedJob = time.Minute // of a job that has ended, for workers that come for its end
)

// Jobs is the rendezvous of many jobs at once. A worker's job id says which one is
// its own; those without one share a job. Each has a [Server] of its own, from the
// first worker that comes to a minute after the end, or until all have heard of it.
type Jobs struct {
	config     ServerConfig // of each, but for the job id
	unassigned *Server      // where visitors are until they have said which job is theirs
	ctx        context.Context
	cancel     context.CancelFunc
	wg         sync.WaitGroup

	mu     sync.Mutex // guards what follows
	byID   map[string]*Server
	closed bool
}

// NewJobs starts the rendezvous. c has what all jobs have alike: no job id, no world
// size, no journal and no listed addresses. It must be closed.
func NewJobs(c ServerConfig) *Jobs {
	if c.JobID != "" || c.WorldSize != 0 || c.Journal != nil || c.Addrs != nil {
		panic("rendezvous: many jobs with what one has")
	}
	j := &Jobs{config: c, byID: map[string]*Server{}}
	j.ctx, j.cancel = context.WithCancel(context.Background())
	j.unassigned = NewServer(c)
	j.unassigned.jobs = j
	return j
}

// Register puts the rendezvous on a gRPC server, as [Server.Register] does.
func (j *Jobs) Register(r grpc.ServiceRegistrar) {
	pb.RegisterRendezvousServer(r, service{s: j.unassigned})
}

// Close ends all streams and waits for all goroutines. Jobs that have not ended lose
// their rendezvous.
func (j *Jobs) Close() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.cancel()
	j.unassigned.Close()
	j.wg.Wait()
}

// admit brings a visitor to its job, or says why there is none for it.
func (j *Jobs) admit(v *clientStream, r *state.Request) *ring.Cause {
	for {
		s, c := j.serverFor(r)
		if c != nil {
			return c
		}
		if s.takeOver(v) {
			return nil
		} // it was forgotten at this moment, or all is over, which of says
	}
}

// of returns the server of a worker's job, and begins one that is new.
func (j *Jobs) serverFor(r *state.Request) (*Server, *ring.Cause) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch s := j.byID[r.JobID]; {
	case j.closed:
		return nil, state.JoinCause(r, exitcode.Retry, "the rendezvous ends")
	case s != nil:
		return s, nil
	case len(j.byID) >= maxJobs:
		return nil, state.JoinCause(r, exitcode.Retry, fmt.Sprintf("the rendezvous has %d jobs, and takes no more", maxJobs))
	}
	c := j.config
	c.JobID = r.JobID
	s := NewServer(c)
	j.byID[r.JobID] = s
	j.wg.Go(func() { j.forgetWhenDone(r.JobID, s) })
	return s, nil
}

// keep forgets a job in time.
func (j *Jobs) forgetWhenDone(id string, s *Server) {
	select {
	case <-s.Done():
		ctx, cancel := context.WithTimeout(j.ctx, keepEndedJob)
		s.Drain(ctx)
		cancel()
	case <-j.ctx.Done():
	}
	j.mu.Lock()
	delete(j.byID, id)
	j.mu.Unlock()
	s.Close()
}

// takeOver makes v a visitor of s; false if s is closed. It is called by v's handler.
func (s *Server) takeOver(v *clientStream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	id := v.id     // the lobby's, which tells the order in which they came, and is nobody else's: all come through it
	v.s.release(v) // the lobby
	s.add(v, id)
	return true
}

// statuses are those of all jobs, by name.
func (j *Jobs) statuses() []state.Status {
	j.mu.Lock()
	servers := make([]*Server, 0, len(j.byID))
	for _, s := range j.byID {
		servers = append(servers, s)
	}
	j.mu.Unlock()
	var all []state.Status
	for _, s := range servers {
		all = append(all, s.Status())
	}
	slices.SortFunc(all, func(a, b state.Status) int { return cmp.Compare(a.JobID, b.JobID) })
	return all
}
