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
	mostJobs     = 1000
	rememberTime = time.Minute // of a job that has ended, for workers that come for its end
)

// Jobs is the rendezvous of many jobs at once. A worker's job id says which one is
// its own; those without one share a job. Each has a [Server] of its own, from the
// first worker that comes to a minute after the end, or until all have heard of it.
type Jobs struct {
	c     ServerConfig // of each, but for the job id
	lobby *Server      // where visitors are until they have said which job is theirs
	life  context.Context
	end   context.CancelFunc
	wg    sync.WaitGroup

	mu     sync.Mutex // guards what follows
	byID   map[string]*Server
	closed bool
}

// NewJobs starts the rendezvous. c has what all jobs have alike: no job id, no world
// size, no journal and no listed addresses. It must be closed.
func NewJobs(c ServerConfig) *Jobs {
	if c.JobID != "" || c.WorldSize != 0 || c.Journal != nil || c.Listed != nil {
		panic("rendezvous: many jobs with what one has")
	}
	j := &Jobs{c: c, byID: map[string]*Server{}}
	j.life, j.end = context.WithCancel(context.Background())
	j.lobby = NewServer(c)
	j.lobby.jobs = j
	return j
}

// Register puts the rendezvous on a gRPC server, as [Server.Register] does.
func (j *Jobs) Register(r grpc.ServiceRegistrar) { pb.RegisterRendezvousServer(r, service{s: j.lobby}) }

// Close ends all streams and waits for all goroutines. Jobs that have not ended lose
// their rendezvous.
func (j *Jobs) Close() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.end()
	j.lobby.Close()
	j.wg.Wait()
}

// admit brings a visitor to its job, or says why there is none for it.
func (j *Jobs) admit(v *visitor, r *state.Request) *ring.Cause {
	for {
		s, c := j.of(r)
		if c != nil {
			return c
		}
		if s.takeOver(v) {
			return nil
		} // it was forgotten at this moment, or all is over, which of says
	}
}

// of returns the server of a worker's job, and begins one that is new.
func (j *Jobs) of(r *state.Request) (*Server, *ring.Cause) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch s := j.byID[r.JobID]; {
	case j.closed:
		return nil, state.JoinCause(r, exitcode.Retry, "the rendezvous ends")
	case s != nil:
		return s, nil
	case len(j.byID) >= mostJobs:
		return nil, state.JoinCause(r, exitcode.Retry, fmt.Sprintf("the rendezvous has %d jobs, and takes no more", mostJobs))
	}
	c := j.c
	c.JobID = r.JobID
	s := NewServer(c)
	j.byID[r.JobID] = s
	j.wg.Go(func() { j.keep(r.JobID, s) })
	return s, nil
}

// keep forgets a job in time.
func (j *Jobs) keep(id string, s *Server) {
	select {
	case <-s.Done():
		ctx, cancel := context.WithTimeout(j.life, rememberTime)
		s.Drain(ctx)
		cancel()
	case <-j.life.Done():
	}
	j.mu.Lock()
	delete(j.byID, id)
	j.mu.Unlock()
	s.Close()
}

// takeOver makes v a visitor of s; false if s is closed. It is called by v's handler.
func (s *Server) takeOver(v *visitor) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	id := v.id   // the lobby's, which tells the order in which they came, and is nobody else's: all come through it
	v.s.leave(v) // the lobby
	s.adopt(v, id)
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
