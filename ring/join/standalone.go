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
	"ringtrain/ring/rendezvous/journal"
	"ringtrain/ring/token"
)

// AloneConfig says what a rendezvous without a worker serves.
type StandaloneConfig struct {
	Listen       string // ADDR[:PORT[-PORT]]; the default port is DefaultPort
	WorldSize    int    // 0: the first join says it
	JobID        string // "": the first join's, else drawn
	Token        token.Token
	StartTimeout time.Duration // from the first join to the last, and from a loss to the return; 0: rendezvous.DefaultStartTimeout
	Restarts     int           // how many lost workers may be replaced in all
	Lease        time.Duration // who is silent for so long is lost; 0: rendezvous.DefaultLease; at least 1 s
	Journal      string        // file that lets a rendezvous that was killed go on; "": none
	Many         bool          // serve any number of jobs, each by its id, until Close
	Insecure     bool          // listen beyond loopback without a token
	Notice       func(string)  // told what a person should know, from any goroutine; may be nil
	Launcher     bool          // Notice goes where rank 0's output goes: rank 0 need not tell the same
}

// check returns all that is wrong with the numbers, at once.
func (c StandaloneConfig) check() error {
	var errs []error
	switch {
	case c.WorldSize < 0:
		errs = append(errs, fmt.Errorf("world size is %d, want 1 or more", c.WorldSize))
	case c.WorldSize > ring.MaxWorldSize:
		errs = append(errs, fmt.Errorf("world size is %d, want at most %d", c.WorldSize, ring.MaxWorldSize))
	}
	if c.Many && (c.WorldSize != 0 || c.JobID != "" || c.Journal != "") {
		errs = append(errs, errors.New("a world size, a job id or a journal is of one job, want none of them with many"))
	}
	return exitcode.With(exitcode.Usage, errors.Join(append(errs, checkNumbers(c.StartTimeout, c.Lease, c.Restarts))...))
}

// checkNumbers returns all that is wrong with what a rendezvous is told, at once.
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

// Alone is the rendezvous of one job, or of many, in a process that is not one of
// its workers: the launcher, or the command rendezvous.
type Standalone struct {
	Server   *rendezvous.Server // nil where it is of many
	endpoint *endpoint
	size     int // 0: not known beforehand
	givenUp  chan int

	refusals *refusalLog
}

// ServeAlone opens the port and serves the rendezvous there until Close. A port
// in use is exitcode.Retry, an address beyond loopback without a token
// exitcode.Auth, wrong options exitcode.Usage.
func ServeStandalone(c StandaloneConfig) (*Standalone, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	at, err := place.RendezvousAddress(c.Listen, c.Token.Set())
	if err != nil {
		return nil, err
	}
	d := listenConfig{at, c.Token, c.Insecure, c.Notice}
	journal, err := c.openJournal(d)
	if err != nil {
		return nil, err
	}
	h, err := openEndpoint(d, rendezvous.ServerOptions())
	if err != nil {
		if journal != nil {
			journal.Close()
		}
		return nil, err
	}
	given, teller, kept := make(chan int, ring.MaxWorldSize), rendezvous.NoticeOwnerAndRank0, newRefusalLog(c.WorldSize)
	if c.Launcher {
		teller = rendezvous.NoticeOwner
	}
	served := rendezvous.ServerConfig{
		JobID: c.JobID, WorldSize: c.WorldSize, StartTimeout: c.StartTimeout, Restarts: c.Restarts, Lease: c.Lease,
		Journal: journal, Notice: d.notify, NoticeSink: teller, RankAbandoned: func(rank int) { trySend(given, rank) }, WorkerRefused: kept.add,
	}
	if c.Many {
		h.serveJobs(d, served)
	} else {
		h.serveJob(d, served)
	}
	h.port.SetOwner(h.standaloneOwner)
	h.start()
	return &Standalone{Server: h.server, endpoint: h, size: c.WorldSize, givenUp: given, refusals: kept}, nil
}

// ofNoWorker says that the port is a rendezvous', and whose.
func (h *endpoint) standaloneOwner() port.Owner {
	o := port.Owner{Rendezvous: true, Rank: -1}
	if h.server != nil {
		o.JobID = h.server.JobID()
	}
	return o
}

// tryTell passes a rank that was given up to the launcher, which hears at once.
func trySend(to chan<- int, rank int) {
	select {
	case to <- rank:
	default: // there is no launcher
	}
}

// openJournal returns nil where none is wanted.
func (c StandaloneConfig) openJournal(d listenConfig) (journal.Journal, error) {
	if c.Journal == "" {
		return nil, nil
	}
	j, err := journal.Open(c.Journal, c.JobID, c.WorldSize)
	if err != nil {
		return nil, err
	}
	if n := j.Torn(); n > 0 {
		d.notify(fmt.Sprintf("journal %s: cut off %d bytes of an entry that was never finished", c.Journal, n))
	}
	if job, generation := j.Last(); generation > 0 {
		d.notify(fmt.Sprintf("journal %s: going on with job %s, generation %d", c.Journal, job, generation))
	}
	return j, nil
}

// Addr is the address that it listens on.
func (a *Standalone) Addr() string { return a.endpoint.port.Addr() }

// Wait returns when the job has ended, nil if it ended well and else with the
// first cause and its exit code, or when ctx ends, with ctx's cause. It closes
// a. If the job ended before it began, workers that are still on their way hear
// the cause for up to two seconds. The rendezvous of many jobs has no end but that of
// ctx, and returns nil.
func (a *Standalone) Wait(ctx context.Context) error {
	defer a.Close()
	if a.Server == nil {
		<-ctx.Done()
		return nil
	}
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
	return causeError(a.Server.Cause()) // by now with the step that the workers have told
}

// stopTime is how long a job has to stop and save its state.
const stopTimeout = 20 * time.Second

// stop has the job stop in good order, whose end that of the rendezvous would be.
// One with a journal may come back, and the job goes on meanwhile.
func (a *Standalone) stop(why error) {
	if a.Server.Durable() || !a.Begun() {
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

// Close releases the port. If the job has ended it lets the workers that are
// connected hear it, for two seconds at most; a job that goes on loses its
// rendezvous. Close may be called more than once.
func (a *Standalone) Close() { a.endpoint.close() }

// Started reports that a process is started for a rank.
func (a *Standalone) Started(rank int) { a.Server.Started(rank) }

// Lost reports that a rank's process is gone, and the exit code for the others.
func (a *Standalone) Lost(rank int, text string, code int) rendezvous.Verdict {
	return a.Server.Lost(rank, text, code)
}

// RestartsLeft is how many more ranks may be started again.
func (a *Standalone) RestartsLeft() int { return a.Server.RestartsLeft() }

// GaveUp says why the job was given up, if it was.
func (a *Standalone) GaveUp() rendezvous.GaveUp { return a.Server.GaveUp() }

// LostForGood is Lost of a rank that is not started again.
func (a *Standalone) LostForGood(rank int, text string, code int) {
	a.Server.LostForGood(rank, text, code)
}

// Cause returns the first cause of the job's end, or nil.
func (a *Standalone) Cause() *ring.Cause { return a.Server.Cause() }

// Stopped says whom a signal has told to end, if the job has stopped for it.
func (a *Standalone) Stopped() *ring.Cause { return a.Server.Stopped() }

// Refused returns why a worker of a rank was refused alone, which was process pid or of
// its group and has ended with code; "" if it was not.
func (a *Standalone) Refused(rank, pid, code int) string { return a.refusals.reasonOf(rank, pid, code) }

// Begun tells whether all workers have met.
func (a *Standalone) Begun() bool {
	a.endpoint.drain.mu.Lock()
	defer a.endpoint.drain.mu.Unlock()
	return a.endpoint.drain.begun
}

// GivenUp yields the ranks that count as lost while their processes seem to live.
func (a *Standalone) GivenUp() <-chan int { return a.givenUp }

// StopAll has all workers stop at one agreed step and end with code.
func (a *Standalone) StopAll(code int) { a.Server.StopAll(code) }

// Done is Server's.
func (a *Standalone) Done() <-chan struct{} { return a.Server.Done() }
