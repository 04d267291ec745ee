package join

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc"

	"ringtrain/ring"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/port"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

// drainTimeout bounds the time that the server of the rendezvous stays after the end of the
// job, to tell the workers.
const drainTimeout = 2 * time.Second

// endpoint is the one port of a process and its services: the links of a worker, the
// rendezvous, or both.
type endpoint struct {
	openedAt  time.Time
	port      *port.Port
	grpc      *grpc.Server
	serveDone chan struct{}      // closed when the server has ended
	server    *rendezvous.Server // nil if the rendezvous is elsewhere
	drain     *drainTracker
}

// listenConfig is the listen address of a process, and what makes it safe.
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

// openEndpoint listens. The caller adds the services before start.
func openEndpoint(d listenConfig) (*endpoint, error) {
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
	h.grpc = grpc.NewServer(append(rendezvous.ServerOptions(), grpc.StreamInterceptor(h.drain.intercept), grpc.WaitForHandlers(true))...)
	return h, nil
}

// openWorkerEndpoint opens the endpoint of a worker at p.
func openWorkerEndpoint(p place.Place, c Config) (*endpoint, error) {
	if err := checkNumbers(c.StartTimeout, c.Lease, c.Restarts); err != nil {
		return nil, err
	}
	d := listenConfig{p.Listen, c.Token, c.Insecure, c.Notice}
	h, err := openEndpoint(d)
	if err != nil {
		return nil, err
	}
	h.setOwner(p.JobID, p.Rank)
	served := rendezvous.ServerConfig{
		JobID: p.JobID, WorldSize: p.WorldSize, StartTimeout: c.StartTimeout, Addrs: p.Listed,
		Restarts: c.Restarts, Lease: c.Lease,
	}
	if p.Serve {
		h.serveJob(d, served)
	}
	h.start()
	return h, nil
}

// setOwner sets the owner that the port names on request: a worker, with as much of its
// place as it knows.
func (h *endpoint) setOwner(jobID string, rank int) {
	h.port.SetOwner(func() port.Owner { return port.Owner{JobID: jobID, Rank: rank} })
}

// serveJob adds the rendezvous of one job.
func (h *endpoint) serveJob(d listenConfig, c rendezvous.ServerConfig) {
	c.Token = d.token
	c.WorkerRefused = refusalNotices(d, c.WorkerRefused)
	h.server = rendezvous.NewServer(c)
	h.server.Register(h.grpc)
}

// refusalNotices returns a function that calls record, which may be nil, for each refused
// worker, and then tells people.
func refusalNotices(d listenConfig, record func(ring.Worker, *ring.Cause)) func(ring.Worker, *ring.Cause) {
	var unproved rateLimit
	return func(w ring.Worker, c *ring.Cause) {
		if record != nil {
			record(w, c)
		}
		if !isUnauthenticated(w) || unproved.allow() {
			d.notify(refusalText(w, c))
		}
	}
}

// refusalText describes a worker that was refused alone. Of a worker with a wrong token
// only the rank is known.
func refusalText(w ring.Worker, c *ring.Cause) string {
	if isUnauthenticated(w) {
		return fmt.Sprintf("refused a worker that claims rank %d: %s", w.Rank, c.Text)
	}
	return fmt.Sprintf("refused pid %d on %s (%s): %s", w.PID, w.Host, w.Addr, c.Text)
}

// start serves until close.
func (h *endpoint) start() {
	go func() {
		defer close(h.serveDone)
		h.grpc.Serve(h.port.GRPC()) // until close
	}()
}

// hasEnded reports whether the job of the rendezvous s has ended.
func hasEnded(s *rendezvous.Server) bool {
	select {
	case <-s.Done():
		return true
	default:
		return false
	}
}

// closeFailed closes h after a join that failed with err. If this worker serves the
// rendezvous, it tells the others: those that are here and, if the job ended before it
// began, those that come within the start timeout. It tells them nothing after an
// interrupted wait, for rank 0 may be started again.
func (h *endpoint) closeFailed(ctx context.Context, p place.Place, c Config, err error) {
	defer h.close()
	server, late := h.server, time.Since(h.openedAt) >= cmp.Or(c.StartTimeout, rendezvous.DefaultStartTimeout)
	switch {
	case server == nil || ctx.Err() != nil:
	case !hasEnded(server):
		server.Abort(ring.CauseOf(err, p.Rank, rendezvous.Self("").Host, -1))
	case !late:
		h.drain.wait(ctx, p.WorldSize)
	}
}

// close ends all services. If the job has ended, it first tells the connected workers. A
// job that goes on loses its rendezvous at once.
func (h *endpoint) close() {
	server := h.server
	if server != nil && hasEnded(server) {
		ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
		server.Drain(ctx)
		cancel()
	}
	stop := time.AfterFunc(drainTimeout, h.grpc.Stop) // frees a handler whose worker does not read
	defer stop.Stop()
	if server != nil {
		server.Close()
	}
	h.grpc.Stop()
	h.port.Close()
	<-h.serveDone
}
