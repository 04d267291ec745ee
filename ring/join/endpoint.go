package join

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"

	"ringtrain/ring"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/link/grpclink"
	"ringtrain/ring/port"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

// drainTime bounds how long who serves the rendezvous stays after the end of
// the job, for the workers to hear of it.
const drainTimeout = 2 * time.Second

// hub is the one port of a process, and what is served there: a worker's links,
// the rendezvous, or both.
type endpoint struct {
	openedAt  time.Time
	port      *port.Port
	grpc      *grpc.Server
	serveDone chan struct{}      // closed when the server has ended
	links     *grpclink.Acceptor // nil where there is no worker
	server    *rendezvous.Server // nil where the rendezvous is elsewhere
	elected   *electedServer     // nil where the rendezvous stays where it is
	jobs      *rendezvous.Jobs   // nil, unless it is of many jobs
	drain     *drainTracker
}

// door is where a process listens, and what makes that safe.
type listenConfig struct {
	listen   string
	token    token.Token
	insecure bool
	notice   func(string) // may be nil
}

func (d listenConfig) notify(line string) {
	if line != "" && d.notice != nil {
		d.notice(line)
	}
}

// openHub listens; what is to be served comes before start.
func openEndpoint(d listenConfig, options []grpc.ServerOption) (*endpoint, error) {
	notice, err := place.CheckListen(d.listen, d.token, d.insecure)
	if err != nil {
		return nil, err
	}
	d.notify(notice)
	p, err := port.Listen(d.listen)
	if err != nil {
		return nil, err
	}
	h := &endpoint{openedAt: time.Now(), port: p, serveDone: make(chan struct{}), drain: newDrainTracker()}
	h.grpc = grpc.NewServer(append(options, grpc.StreamInterceptor(h.drain.intercept), grpc.WaitForHandlers(true))...)
	return h, nil
}

// openWorker opens the hub of a worker at p.
func openWorkerEndpoint(p place.Place, c Config) (*endpoint, error) {
	if err := checkNumbers(c.StartTimeout, c.Lease, c.Restarts); err != nil {
		return nil, err
	}
	if p.Elects() && c.Election == nil {
		return nil, errNoElection
	}
	d := listenConfig{p.Listen, c.Token, c.Insecure, c.Notice}
	h, err := openEndpoint(d, grpclink.ServerOptions())
	if err != nil {
		return nil, err
	}
	h.setOwner(p.JobID, p.Rank)
	h.links = grpclink.Register(h.grpc)
	served := rendezvous.ServerConfig{
		JobID: p.JobID, WorldSize: p.WorldSize, StartTimeout: c.StartTimeout, Addrs: p.Listed,
		Restarts: c.Restarts, Lease: c.Lease,
	}
	switch {
	case p.Serve:
		h.serveJob(d, served)
	case p.Elects():
		h.registerElection(d, p, c, served)
	}
	h.start()
	return h, nil
}

// isOf says whose the port is, to who asks it: a worker's, as far as it knows its
// place by now.
func (h *endpoint) setOwner(jobID string, rank int) {
	h.port.SetOwner(func() port.Owner { return port.Owner{JobID: jobID, Rank: rank} })
}

// hold adds the rendezvous.
func (h *endpoint) serveJob(d listenConfig, c rendezvous.ServerConfig) {
	c.Token = d.token
	c.WorkerRefused = refusalNotices(d, c.WorkerRefused)
	h.server = rendezvous.NewServer(c)
	h.server.Register(h.grpc)
}

// holdMany adds the rendezvous of many jobs.
func (h *endpoint) serveJobs(d listenConfig, c rendezvous.ServerConfig) {
	c.Token = d.token
	c.WorkerRefused = refusalNotices(d, c.WorkerRefused)
	h.jobs = rendezvous.NewJobs(c)
	h.jobs.Register(h.grpc)
}

// refusedTold tells people of refusals, after keep has heard of them, which may be nil.
func refusalNotices(d listenConfig, keep func(ring.Worker, *ring.Cause)) func(ring.Worker, *ring.Cause) {
	var unproved rateLimit
	return func(w ring.Worker, c *ring.Cause) {
		if keep != nil {
			keep(w, c)
		}
		if !isUnauthenticated(w) || unproved.allow() {
			d.notify(refusalText(w, c))
		}
	}
}

// refusedLine tells people about a worker that was refused alone. Of one with a
// wrong token only the rank is known.
func refusalText(w ring.Worker, c *ring.Cause) string {
	if isUnauthenticated(w) {
		return fmt.Sprintf("refused a worker that claims rank %d: %s", w.Rank, c.Text)
	}
	return fmt.Sprintf("refused pid %d on %s (%s): %s", w.PID, w.Host, w.Addr, c.Text)
}

func (h *endpoint) start() {
	go func() {
		defer close(h.serveDone)
		h.grpc.Serve(h.port.GRPC()) // until close
	}()
}

// serving is the rendezvous that is here now, nil if it is elsewhere.
func (h *endpoint) serving() *rendezvous.Server {
	if h.elected != nil {
		return h.elected.serving()
	}
	return h.server
}

// hasEnded tells whether the job has ended at the rendezvous s.
func hasEnded(s *rendezvous.Server) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

// giveUp closes h after a join that failed with err. If this worker serves the
// rendezvous, the others hear of it: those who are here, and, where the job
// ended before it began, those who are still to come within the start timeout.
// An interrupted wait tells them nothing: rank 0 may be started again. Nor does a
// worker that was elected: the others elect another.
func (h *endpoint) closeFailed(ctx context.Context, p place.Place, c Config, err error) {
	defer h.close()
	server, late := h.serving(), time.Since(h.openedAt) >= cmp.Or(c.StartTimeout, rendezvous.DefaultStartTimeout)
	switch {
	case server == nil || ctx.Err() != nil:
	case !hasEnded(server):
		if h.elected == nil {
			server.Abort(ring.CauseOf(err, p.Rank, rendezvous.Self("").Host, -1))
		}
	case !late:
		h.drain.wait(ctx, p.WorldSize)
	}
}

// close ends all that is served. The end of the job, if it has come, is read
// first by who is connected; a job that goes on loses its rendezvous at once.
func (h *endpoint) close() {
	server := h.serving()
	if server != nil && hasEnded(server) {
		ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
		server.Drain(ctx)
		cancel()
	}
	stop := time.AfterFunc(drainTimeout, h.grpc.Stop) // frees a handler whose worker takes nothing
	defer stop.Stop()
	switch {
	case h.jobs != nil:
		h.jobs.Close()
	case h.elected != nil:
		if !h.elected.close() { // handlers may wait for it, and Stop for them
			go h.grpc.Stop()
			h.port.Close()
			return
		}
	case server != nil:
		server.Close()
	}
	h.grpc.Stop()
	h.port.Close()
	<-h.serveDone
}
