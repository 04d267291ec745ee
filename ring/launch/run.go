package launch

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/awake"
	"ringtrain/ring/launch/hosts"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/rendezvous"
)

// Result is how the ranks ended.
type Result struct {
	Code  int         // of the cause that ranks were told, else of the first rank that failed, 128+n for signal n; 0 if none did
	Rank  int         // at fault; -1 if none failed, or it is not one rank's fault
	Host  string      // that it ran on; "" for this one
	Cause *ring.Cause // what the rendezvous knows of it; may be nil
	Text  string      // the cause, or "rank 2 (pid 123) ended with exit code 65", …; "" if none failed

	Unread bool // nobody took the last lines: to write to Stdout may block for ever
}

// Run starts the ranks, passes on what they print, and returns when all have
// ended, with the failure that came first.
//
// After the first failure the others get TERM one second later (a rank whose
// generation has ended ends by itself) and KILL after Grace. A signal that asks
// to end is passed on to all; once the first rank has ended after it, the
// others have Grace. Other signals are passed on, and that is all. The end of
// ctx is TERM, then KILL, and Run returns its cause. When Timeout is over all get
// QUIT, by which ranks say what they do, a second later TERM, then KILL, and the
// code is TimedOut.
//
// With Restarts, a rank that a signal has killed or that ends with a code of 128
// or above is started again in its place, as long as the job goes on. Any other
// failure ends the job. Server counts the restarts, and gives up a rank that is in a
// loop. A rank whose process came to nothing is started after a delay that doubles.
//
// The ranks of a host that is lost are started again, too, each for one of Restarts.
// The launcher logs in to the host once more; if it has not answered after 5 s, they go
// to free slots of other hosts: those on which ranks are, or else those in the list that
// were not used, or that were lost before. With too few of them the job ends.
//
// Whoever reads one of the two outputs may stop reading: then ranks wait that write to
// it, until the job is over, and its last lines are lost if for 5 s nobody reads them.
// The other output of the ranks goes on, wherever they run, unless both are one, and how
// ranks end is heard at once. Where the reader has closed a pipe, the job goes on without.
//
// Rank 0 gets this process's standard input, if it runs on this host and that
// is no terminal; the others get none.
//
// An error means that the ranks could not be started or their output not be
// passed on: exitcode.Usage, NotFound, NotRunnable, CannotCreate, IO, Failed,
// or, for a host that cannot be reached, Retry. A rank that had been started
// has then ended as well.
//
// Run panics in a guard process, since main has then not called Guard.
func Run(ctx context.Context, c Config) (Result, error) {
	if process.IsGuard() {
		panic("launch: main does not call process.RunGuard")
	}
	if err := c.check(); err != nil {
		return Result{Rank: -1}, err
	}
	seats, err := hosts.Assign(c.worldSize(), c.Hosts, c.MapBy)
	if err != nil {
		return Result{Rank: -1}, err
	}
	v, err := newRankOutputs(&c)
	if err != nil {
		return Result{Rank: -1}, err
	}
	c.Notice = v.mux.tell // who tells must not wait for who reads
	// The parent-death signal comes when the thread dies, not the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	g, err := process.StartGuard()
	if err != nil {
		_, fault := v.close()
		return Result{Rank: -1}, errors.Join(err, fault)
	}
	l := &launcher{
		config:      &c,
		termination: termination{grace: c.Grace},
		assignments: seats,
		guard:       g,
		outputs:     v,
		events:      make(chan event),
		reports:     make(chan hostReport),
		done:        make(chan struct{}),
		ranks:       map[int]bool{},
		restartAt:   map[int]time.Time{},
		delayed:     map[int]time.Time{},
		lastEnding:  map[int]process.Ending{},
		hostOfRank:  make([]atomic.Int32, len(seats)),
	}
	for _, s := range seats {
		l.hostOfRank[s.Rank].Store(int32(s.Host))
	}
	l.failover.init(ctx)
	err = l.run(ctx)
	g.Close()
	res := l.result()
	unread, fault := v.close()
	res.Unread = unread
	return res, errors.Join(err, fault)
}

// launcher runs the ranks of one Config. Its own goroutine alone touches it;
// hosts report by events.
type launcher struct {
	config      *Config
	termination termination
	assignments []hosts.Assignment // by rank
	hostOfRank  []atomic.Int32     // by rank: the host; for who reads what comes by a login
	hosts       []host             // by index in the seats; nil: not logged in to, or lost
	logins      []*login
	guard       *process.GuardProcess
	outputs     *rankOutputs
	events      chan event
	reports     chan hostReport        // of hosts that are being opened
	clock       awake.Clock            // of all deadlines
	pausedAt    time.Time              // since when this process is stopped by SIGTSTP; zero: it is not
	givenUp     <-chan int             // ranks that count as lost while they live; nil: nobody tells
	done        chan struct{}          // closed when nobody takes events any more
	ranks       map[int]bool           // ranks that are not cleared yet; false: the process has ended
	restartAt   map[int]time.Time      // of those, the ones to start again then, and not before
	delayed     map[int]time.Time      // of those, the ones of which nothing is left and whose delay is not over
	lastEnding  map[int]process.Ending // by rank: the end upon which it was last started again
	failover    failover               // of those, the ones whose host is lost
}

// tell takes an event from any goroutine.
func (l *launcher) post(e event) {
	select {
	case l.events <- e:
	case <-l.done:
	}
}

func (l *launcher) run(ctx context.Context) error {
	defer l.closeHosts()
	defer close(l.done) // first: nobody takes events any more
	if err := l.openHosts(ctx); err != nil {
		return err
	}
	fault := l.startAll()
	if fault != nil {
		l.perform(l.termination.cancel(l.now()))
	}
	return errors.Join(fault, l.supervise(ctx))
}

func (l *launcher) startAll() error {
	for rank := range l.assignments {
		if err := l.start(rank); err != nil {
			return err
		}
	}
	return nil
}

func (l *launcher) start(rank int) error {
	s := l.assignments[rank]
	if err := l.hosts[s.Host].start(rank, l.config.order(s)); err != nil {
		return fmt.Errorf("start rank %d: %w", rank, err)
	}
	l.ranks[rank] = true
	if l.config.Server != nil {
		l.config.Server.Started(rank)
	}
	return nil
}

// attend returns when all ranks are cleared.
func (l *launcher) supervise(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	cancelled, signals := ctx.Done(), l.config.Signals
	var jobOver <-chan struct{}
	if l.config.Server != nil {
		l.givenUp, jobOver = l.config.Server.GivenUp(), l.config.Server.Done()
	}
	var expires time.Time
	if l.config.Timeout > 0 {
		expires = l.now().Add(l.config.Timeout)
	}
	var fault error
	for len(l.ranks) > 0 {
		l.resetTimer(timer, expires)
		now := actionNone
		select {
		case e := <-l.events:
			now = l.cancelOn(l.handleEvent(e), &fault)
		case o := <-l.failover.results:
			now = l.cancelOn(l.dialDone(o), &fault)
		case s, ok := <-signals:
			if sig, is := s.(syscall.Signal); is {
				now = l.handleSignal(sig)
			}
			if !ok {
				signals = nil
			}
			l.suspend(signals)
		case rank := <-l.givenUp:
			l.killGivenUp(rank)
		case <-jobOver: // the last words of the ranks, and, of remote ones, that of their ends
			jobOver = nil
			l.outputs.mux.raiseLimit(false)
		case <-cancelled:
			cancelled, fault = nil, errors.Join(fault, context.Cause(ctx))
			now = l.termination.cancel(l.now())
		case <-timer.C:
			now = l.termination.tick(l.now())
			if now == actionNone && !expires.IsZero() && !l.now().Before(expires) {
				now, expires = l.termination.expire(l.config.Timeout, l.now()), time.Time{}
			}
		}
		if now == actionGiveUp {
			return errors.Join(fault, fmt.Errorf("%d ranks do not end, even by KILL", len(l.ranks)))
		}
		if err := l.restartDelayed(l.now()); err != nil {
			now = l.cancelOn(err, &fault)
		}
		l.perform(now)
		if !l.termination.undisturbed() {
			l.failover.cancelAll(l)
		}
	}
	return fault
}

// unless ends the job by a fault of the launcher's own, if there is one.
func (l *launcher) cancelOn(err error, fault *error) action {
	if err == nil {
		return actionNone
	}
	*fault = errors.Join(*fault, err)
	return l.termination.cancel(l.now())
}

// now is the time on the launcher's clock, which stands still while this process is stopped.
func (l *launcher) now() time.Time { return l.clock.Read(time.Now()) }

// wake sets the timer to when the course has something to do, a delay or the time of the
// run is over, or the clock is to be read again.
func (l *launcher) resetTimer(timer *time.Timer, expires time.Time) {
	due := l.termination.nextDeadline()
	if due.IsZero() {
		due = l.nextRestart() // a course that has something to do lets nobody start
	}
	wait := awake.ReadInterval
	for _, at := range []time.Time{due, expires} {
		if !at.IsZero() {
			wait = min(wait, at.Sub(l.now()))
		}
	}
	timer.Reset(wait)
}

// took takes note of an event. An error is a rank that could not be started.
func (l *launcher) handleEvent(e event) error {
	if e.loss != nil {
		return l.hostsLost(e.loss)
	}
	_, left := l.ranks[e.Rank]
	switch {
	case !left: // it could not be started
	case e.fault != nil:
		delete(l.ranks, e.Rank)
		return fmt.Errorf("start rank %d: %w", e.Rank, e.fault)
	case e.leaving && l.willRestart(e.Rank) && l.termination.undisturbed(): // to start it there would cost a second restart
	case e.cleared:
		delete(l.ranks, e.Rank)
		return l.restartCleared(e.Rank)
	default:
		l.ranks[e.Rank] = false
		l.rankEnded(e.Ending)
		if !l.anyRuns() {
			l.outputs.mux.raiseLimit(true)
		}
	}
	return nil
}

// runs tells whether any rank does, or will again.
func (l *launcher) anyRuns() bool {
	for rank, runs := range l.ranks {
		if runs || l.willRestart(rank) {
			return true
		}
	}
	return false
}

// ended takes note of a rank's end, and tells the rendezvous of a bad one. A
// rank that has told its cause there has done so before.
func (l *launcher) rankEnded(e process.Ending) {
	if s := l.config.Server; s != nil && !e.OK() && !e.Lost && e.Signal == 0 {
		e.Why = s.Refused(e.Rank, e.PID, e.ExitCode)
	}
	if !l.askRestart(e) {
		l.rankFailed(e)
	}
}

// failed takes note of an end after which the rank is not started again.
func (l *launcher) rankFailed(e process.Ending) {
	if own := l.termination.rankEnded(e, l.now()); own && l.config.Server != nil {
		l.config.Server.LostForGood(e.Rank, e.Cause(), l.exitCodeForOthers(e))
	}
}

// result is the course's, unless the rendezvous knows the cause by which the first rank
// has ended: then it is that.
func (l *launcher) result() Result {
	r := l.termination.result()
	gaveUp := rendezvous.GaveUp{Rank: -1}
	if s := l.config.Server; s != nil {
		r.Cause, gaveUp = s.Cause(), s.GaveUp()
	}
	switch first, c := l.termination.firstFailure, r.Cause; {
	case first == nil || c == nil:
	case first.Follows(c):
		r.Code, r.Rank, r.Host, r.Text = max(c.ExitCode, exitcode.Failed), c.Rank, c.Host, c.Error()
		if e, ok := l.lastEnding[gaveUp.Rank]; ok {
			r.Code = e.Code() // of the rank that is in a loop; the others ended as they were told
		}
	case gaveUp.Why != "":
		r.Text += "; " + gaveUp.Why
	}
	if c := l.stopCause(); c != nil && r.Cause == nil {
		r.Rank, r.Host, r.Text, r.Cause = c.Rank, c.Host, c.Error(), c
	}
	return r
}

// stopped says whom a signal has told to end, for which all ranks have, when it came
// to ranks alone: which one of them ended first tells nothing.
func (l *launcher) stopCause() *ring.Cause {
	first := l.termination.firstFailure
	if first == nil || !first.Obedient() || l.termination.signal != 0 || l.config.Server == nil {
		return nil
	}
	return l.config.Server.Stopped()
}
