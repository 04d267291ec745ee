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
	keepEndedJob = time.Minute // after the end of a job, for workers that reconnect to hear the end
)

// Jobs is the rendezvous of many jobs. The job id of a worker selects its job; workers without a
// job id share one. Each job has a [Server] from its first worker on. The Server closes when all
// workers have heard the end of the job, or a minute after the end.
type Jobs struct {
	config     ServerConfig // of each job, without the job id
	unassigned *Server      // has the clients whose job is not known yet
	ctx        context.Context
	cancel     context.CancelFunc
	wg         sync.WaitGroup

	mu     sync.Mutex // guards what follows
	byID   map[string]*Server
	closed bool
}

// NewJobs starts a rendezvous of many jobs. c holds the settings of all jobs: it has no job id,
// world size, journal or addresses. The caller must close the Jobs.
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

// Register registers the rendezvous on a gRPC server, as [Server.Register] does.
func (j *Jobs) Register(r grpc.ServiceRegistrar) {
	pb.RegisterRendezvousServer(r, service{s: j.unassigned})
}

// Close ends all streams and waits for all goroutines. Jobs that have not ended lose their
// rendezvous.
func (j *Jobs) Close() {
	j.mu.Lock()
	j.closed = true
	j.mu.Unlock()
	j.cancel()
	j.unassigned.Close()
	j.wg.Wait()
}

// admit moves a client to the server of its job, or returns the cause of its refusal.
func (j *Jobs) admit(client *clientStream, r *state.Request) *ring.Cause {
	for {
		s, c := j.serverFor(r)
		if c != nil {
			return c
		}
		if s.takeOver(client) {
			return nil
		} // the job was removed at this moment, or Jobs is closed, which serverFor reports
	}
}

// serverFor returns the server of a job, starting it if the job is new.
func (j *Jobs) serverFor(r *state.Request) (*Server, *ring.Cause) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch s := j.byID[r.JobID]; {
	case j.closed:
		return nil, state.JoinCause(r, exitcode.Retry, "the rendezvous is closing")
	case s != nil:
		return s, nil
	case len(j.byID) >= maxJobs:
		return nil, state.JoinCause(r, exitcode.Retry, fmt.Sprintf("the rendezvous has %d jobs, its maximum", maxJobs))
	}
	c := j.config
	c.JobID = r.JobID
	s := NewServer(c)
	j.byID[r.JobID] = s
	j.wg.Go(func() { j.forgetWhenDone(r.JobID, s) })
	return s, nil
}

// forgetWhenDone removes a job after its end.
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

// takeOver moves client c to s. It returns false if s is closed. The handler of the client calls it.
func (s *Server) takeOver(c *clientStream) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	id := c.id     // of the server of unassigned clients: unique, and in order of arrival
	c.s.release(c) // leaves the server of unassigned clients
	s.add(c, id)
	return true
}

// statuses returns the statuses of all jobs, by job id.
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
