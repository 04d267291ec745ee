package join

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/port"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/token"
)

// StandaloneConfig configures a rendezvous in a process that is no worker.
type StandaloneConfig struct {
	Listen       string // ADDR[:PORT[-PORT]]; the default port is DefaultPort
	WorldSize    int    // 0: that of the first join
	JobID        string // "": the first join's, else drawn
	Token        token.Token
	StartTimeout time.Duration // from the first join to the last, and from a loss to its replacement; 0: rendezvous.DefaultStartTimeout
	Restarts     int           // how many lost workers may be replaced in all
	Lease        time.Duration // a worker that is silent for so long is lost; 0: rendezvous.DefaultLease; at least 1 s
	Insecure     bool          // listen beyond loopback without a token
	Notice       func(string)  // receives lines for people, from any goroutine; may be nil
	Launcher     bool          // Notice and rank 0 write to the same place: rank 0 does not repeat the lines
}

// check returns all faults of the options at once.
func (c StandaloneConfig) check() error {
	var errs []error
	switch {
	case c.WorldSize < 0:
		errs = append(errs, fmt.Errorf("world size is %d, want 1 or more", c.WorldSize))
	case c.WorldSize > ring.MaxWorldSize:
		errs = append(errs, fmt.Errorf("world size is %d, want at most %d", c.WorldSize, ring.MaxWorldSize))
	}
	return exitcode.With(exitcode.Usage, errors.Join(append(errs, checkNumbers(c.StartTimeout, c.Lease, c.Restarts))...))
}

// checkNumbers returns all faults of the numbers at once.
func checkNumbers(startTimeout, lease time.Duration, restarts int) error {
	var errs []error
	if startTimeout < 0 {
		errs = append(errs, fmt.Errorf("start timeout is %v, want more than 0", startTimeout))
	}
	if lease < 0 || lease > 0 && lease < time.Second {
		errs = append(errs, fmt.Errorf("lease is %v, want 1s or more", lease))
	}
	if restarts < 0 {
		errs = append(errs, fmt.Errorf("restarts is %d, want 0 or more", restarts))
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// Standalone is the rendezvous of a job in a process that is no worker: the launcher, or the
// command rendezvous. Its methods are those that launch.Run needs.
type Standalone struct {
	Server   *rendezvous.Server
	endpoint *endpoint
	size     int // 0: unknown
	givenUp  chan int

	refusals *refusalLog
}

// ServeStandalone opens the port and serves the rendezvous there until Close. A port in use
// is exitcode.Retry, an address beyond the loopback without a token is exitcode.Auth, and
// wrong options are exitcode.Usage.
func ServeStandalone(c StandaloneConfig) (*Standalone, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	at, err := place.RendezvousAddress(c.Listen, c.Token.Set())
	if err != nil {
		return nil, err
	}
	d := listenConfig{at, c.Token, c.Insecure, c.Notice}
	h, err := openEndpoint(d)
	if err != nil {
		return nil, err
	}
	given, teller, kept := make(chan int, ring.MaxWorldSize), rendezvous.NoticeOwnerAndRank0, newRefusalLog(c.WorldSize)
	if c.Launcher {
		teller = rendezvous.NoticeOwner
	}
	h.serveJob(d, rendezvous.ServerConfig{
		JobID: c.JobID, WorldSize: c.WorldSize, StartTimeout: c.StartTimeout, Restarts: c.Restarts, Lease: c.Lease,
		Notice: d.notify, NoticeSink: teller, RankAbandoned: func(rank int) { trySend(given, rank) }, WorkerRefused: kept.add,
	})
	h.port.SetOwner(h.standaloneOwner)
	h.start()
	return &Standalone{Server: h.server, endpoint: h, size: c.WorldSize, givenUp: given, refusals: kept}, nil
}

// standaloneOwner returns the owner of a port with a rendezvous and without a worker.
func (h *endpoint) standaloneOwner() port.Owner {
	return port.Owner{Rendezvous: true, JobID: h.server.JobID(), Rank: -1}
}

// trySend sends a rank that was given up to the launcher, if there is one.
func trySend(to chan<- int, rank int) {
	select {
	case to <- rank:
	default: // no launcher receives
	}
}

// Addr returns the address that the rendezvous listens on.
func (a *Standalone) Addr() string { return a.endpoint.port.Addr() }

// Wait returns when the job has ended: nil after a good end, else the first cause with its
// exit code. When ctx ends, it returns the cause of ctx. Wait closes a. If the job ended
// before it began, workers that come within two seconds are told the cause.
func (a *Standalone) Wait(ctx context.Context) error {
	defer a.Close()
	select {
	case <-a.Server.Done():
	case <-ctx.Done():
		a.stop(context.Cause(ctx))
		return fmt.Errorf("rendezvous on %s: %w", a.Addr(), context.Cause(ctx))
	}
	if a.Server.Cause() == nil {
		return nil
	}
	a.endpoint.drain.wait(ctx, a.size)
	return a.Server.Cause().WithCode() // now with the step that the workers have reported
}

// stopTimeout bounds the time that a job has to stop and save its state.
const stopTimeout = 20 * time.Second

// stop has a job stop in good order that would end with its rendezvous.
func (a *Standalone) stop(why error) {
	if !a.Begun() {
		return
	}
	a.Server.StopAll(exitcode.Of(why))
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-a.Server.Done():
	case <-timer.C:
	}
}

// Close releases the port. If the job has ended, it first tells the connected workers, for
// two seconds at most. A job that goes on loses its rendezvous. Close may be called more
// than once.
func (a *Standalone) Close() { a.endpoint.close() }

// Started reports that a process is started for a rank.
func (a *Standalone) Started(rank int) { a.Server.Started(rank) }

// Lost reports that a rank's process has ended, and the exit code for the others.
func (a *Standalone) Lost(rank int, text string, code int) rendezvous.Verdict {
	return a.Server.Lost(rank, text, code)
}

// RestartsLeft returns how many more ranks may be started again.
func (a *Standalone) RestartsLeft() int { return a.Server.RestartsLeft() }

// GaveUp returns why the job was given up, if it was.
func (a *Standalone) GaveUp() rendezvous.GaveUp { return a.Server.GaveUp() }

// LostForGood is Lost for a rank that is not started again.
func (a *Standalone) LostForGood(rank int, text string, code int) {
	a.Server.LostForGood(rank, text, code)
}

// Cause returns the first cause of the job's end, or nil.
func (a *Standalone) Cause() *ring.Cause { return a.Server.Cause() }

// Stopped returns the worker that a signal told to end, if the job has stopped for it.
func (a *Standalone) Stopped() *ring.Cause { return a.Server.Stopped() }

// Refused returns why a worker of a rank was refused alone: process pid, or a process of
// its group, which has ended with code. It returns "" if none was.
func (a *Standalone) Refused(rank, pid, code int) string { return a.refusals.reasonOf(rank, pid, code) }

// Begun reports whether all workers have joined.
func (a *Standalone) Begun() bool {
	a.endpoint.drain.mu.Lock()
	defer a.endpoint.drain.mu.Unlock()
	return a.endpoint.drain.begun
}

// GivenUp returns the ranks that count as lost while their processes seem to live.
func (a *Standalone) GivenUp() <-chan int { return a.givenUp }

// StopAll has all workers stop at one agreed step and end with code.
func (a *Standalone) StopAll(code int) { a.Server.StopAll(code) }

// Done is closed when the job has ended.
func (a *Standalone) Done() <-chan struct{} { return a.Server.Done() }
