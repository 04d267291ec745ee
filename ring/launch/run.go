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
	"ringtrain/ring/token"
)

// Result is how the ranks ended.
type Result struct {
	Code  int         // exit code of the cause that ranks were told, else of the first rank that failed, 128+n for signal n; 0 if none failed
	Rank  int         // rank at fault; -1 if none failed, or if no single rank is at fault
	Host  string      // host of the rank; "": this host
	Cause *ring.Cause // the cause that the rendezvous knows; may be nil
	Text  string      // the cause, or "rank 2 (pid 123) ended with exit code 65", …; "" if none failed

	Reasons []process.Ending // of ranks that failed and have said why, in order
	Unread  bool             // the last lines were not read: a write to Stdout may block for ever
}

// Run starts the ranks and passes on their output. It returns when all have ended, with the
// first failure.
//
// After the first failure the other ranks get TERM one second later and KILL after Grace.
// Ranks whose generation has ended usually end by themselves before TERM. A signal that
// asks to end is passed on to all ranks. Once the first rank has ended after it, the others
// have Grace. Other signals are only passed on. At the end of ctx the ranks get TERM, then
// KILL, and Run returns the cause of ctx. After Timeout all ranks get QUIT, on which they
// dump their state, a second later TERM, then KILL. The code is then TimedOut.
//
// With Restarts, a rank that a signal has killed or that ends with a code of 128 or above
// is started again, as long as the job goes on. Any other failure ends the job. Server
// counts the restarts and gives up a rank in a crash loop. A rank that ends soon after its
// start is started again after a delay that doubles.
//
// The ranks of a lost host are also started again, there or on other hosts: see the package comment.
//
// A reader of an output may stop reading. Ranks that write to that output then wait until
// the job is over. If the reader does not read for 5 s after that, the last lines are lost.
// The other output goes on, on all hosts, unless both lead to the same place, and the ends
// of ranks are handled at once. If the reader has closed its pipe, the job goes on without
// that output.
//
// Rank 0 gets this process's standard input, on whatever host it runs, unless the input is a
// terminal. The other ranks get none.
//
// An error means that ranks could not be started or that their output could not be written:
// exitcode.Usage, NotFound, NotRunnable, CannotCreate, IO, Failed, or, for a host that
// cannot be reached, Retry. All ranks that were started have then ended.
//
// Run panics in a guard process, for main has then not called process.RunGuard.
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
	if err := checkOpenFiles(len(seats), c.openFiles(seats)); err != nil {
		return Result{Rank: -1}, err
	}
	v, err := newRankOutputs(&c)
	if err != nil {
		return Result{Rank: -1}, err
	}
	c.Notice = v.mux.tell // a notice must not wait for a reader
	// The parent-death signal comes at the death of the thread, not of the process.
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
	if !c.NoInput {
		l.input.file = process.Stdin()
	}
	l.input.wants, l.input.done = make(chan *login, 1), l.done
	l.failover.init(ctx)
	err = l.run(ctx)
	g.Close()
	res := l.result()
	unread, fault := v.close()
	res.Unread = unread
	return res, errors.Join(err, fault)
}

// launcher runs the ranks of one Config. Only its own goroutine touches it; hosts report by
// events.
type launcher struct {
	config      *Config
	termination termination
	assignments []hosts.Assignment // by rank
	hostOfRank  []atomic.Int32     // by rank: the index of its host; for the goroutines of logins
	hosts       []host             // by index in Config.Hosts; nil: not logged in to, or lost
	logins      []*login
	secret      *token.HeldFile // of the ranks on this host; nil: there is none
	guard       *process.GuardProcess
	outputs     *rankOutputs
	input       inputFeed
	events      chan event
	clock       awake.Clock            // of all deadlines
	pausedAt    time.Time              // when SIGTSTP has stopped this process; zero: it runs
	givenUp     <-chan int             // ranks that count as lost while they live; nil without a rendezvous
	done        chan struct{}          // closed when no events are handled any more
	ranks       map[int]bool           // ranks with processes left; false: the rank's own process has ended
	restartAt   map[int]time.Time      // ranks to start again, and the earliest time for that
	delayed     map[int]time.Time      // ranks without a process whose delay is not over
	lastEnding  map[int]process.Ending // by rank: the ending before its last restart
	reasons     []process.Ending       // as Result.Reasons
	failover    failover               // ranks to start again whose host is lost
	unheard     string                 // the silent host for whose rank the job has ended; "": none
}

// post posts an event from any goroutine.
func (l *launcher) post(e event) {
	select {
	case l.events <- e:
	case <-l.done:
	}
}

// run starts the ranks and returns when all have ended.
func (l *launcher) run(ctx context.Context) error {
	defer l.closeHosts()
	defer close(l.done) // runs before closeHosts: no events are handled any more
	if err := l.openHosts(ctx); err != nil {
		return err
	}
	fault := l.startAll()
	if fault != nil {
		l.perform(l.termination.cancel(l.now()))
	}
	return errors.Join(fault, l.supervise(ctx))
}

// startAll starts all ranks.
func (l *launcher) startAll() error {
	for rank := range l.assignments {
		if err := l.start(rank); err != nil {
			return err
		}
	}
	return nil
}

// start starts a rank on its host.
func (l *launcher) start(rank int) error {
	s := l.assignments[rank]
	order := l.config.order(s)
	order.Input = rank == 0 && l.input.file != nil
	if err := l.hosts[s.Host].start(rank, order); err != nil {
		return fmt.Errorf("start rank %d: %w", rank, err)
	}
	l.ranks[rank] = true
	if l.config.Server != nil {
		l.config.Server.Started(rank)
	}
	return nil
}

// supervise handles events until no rank is left.
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
			now = l.cancelOn(l.failover.dialDone(l, o), &fault)
		case err := <-l.guard.Failed():
			now = l.cancelOn(err, &fault)
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
		case <-jobOver: // the ranks write their last lines now
			jobOver = nil
			l.keepSilence()
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

// cancelOn ends the job because of a fault of the launcher itself, if there is one.
func (l *launcher) cancelOn(err error, fault *error) action {
	if err == nil {
		return actionNone
	}
	*fault = errors.Join(*fault, err)
	return l.termination.cancel(l.now())
}

// now returns the time of the launcher's clock, which stands still while this process is
// stopped.
func (l *launcher) now() time.Time { return l.clock.Read(time.Now()) }

// resetTimer sets the timer to the next deadline: of the termination, of a delayed restart,
// of the run, or of the clock.
func (l *launcher) resetTimer(timer *time.Timer, expires time.Time) {
	due := l.termination.nextDeadline()
	if due.IsZero() {
		due = l.nextRestart() // no rank is started during the termination
	}
	wait := awake.ReadInterval
	for _, at := range []time.Time{due, expires} {
		if !at.IsZero() {
			wait = min(wait, at.Sub(l.now()))
		}
	}
	timer.Reset(wait)
}

// handleEvent handles an event. An error is a rank that could not be started.
func (l *launcher) handleEvent(e event) error {
	if e.loss != nil {
		return l.hostLost(e.loss)
	}
	_, left := l.ranks[e.Rank]
	switch {
	case !left: // the rank could not be started
	case e.fault != nil:
		delete(l.ranks, e.Rank)
		return fmt.Errorf("start rank %d: %w", e.Rank, e.fault)
	case e.leaving && l.willRestart(e.Rank) && l.termination.undisturbed(): // a start on this host would cost a second restart
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

// anyRuns reports whether any rank runs or is to be started again.
func (l *launcher) anyRuns() bool {
	for rank, runs := range l.ranks {
		if runs || l.willRestart(rank) {
			return true
		}
	}
	return false
}

// rankEnded handles a rank's end. It tells the rendezvous of a failure. A rank with a cause
// has told that before.
func (l *launcher) rankEnded(e process.Ending) {
	if !e.OK() && !e.Lost && e.Signal == 0 {
		e.Why = l.outputs.takeReason(e.Rank)
	}
	if !l.askRestart(e) {
		l.rankFailed(e)
	}
}

// rankFailed handles the end of a rank that is not started again.
func (l *launcher) rankFailed(e process.Ending) {
	if e.Why != "" {
		l.reasons = append(l.reasons, e)
	}
	if own := l.termination.rankEnded(e, l.now()); own && l.config.Server != nil {
		l.config.Server.LostForGood(e.Rank, e.Cause(), l.config.exitCodeForOthers(e))
	}
}

// result returns the result of the termination. If the rendezvous knows the cause by which
// the first rank has ended, that cause is the result.
func (l *launcher) result() Result {
	r := l.termination.result()
	r.Reasons = l.reasons
	gaveUp := rendezvous.GaveUp{Rank: -1}
	if s := l.config.Server; s != nil {
		r.Cause, gaveUp = s.Cause(), s.GaveUp()
	}
	switch first, c := l.termination.firstFailure, r.Cause; {
	case first == nil || c == nil:
	case first.Follows(c):
		r.Code, r.Rank, r.Host, r.Text = max(c.ExitCode, exitcode.Failed), c.Rank, c.Host, c.Error()
		if e, ok := l.lastEnding[gaveUp.Rank]; ok {
			r.Code = e.Code() // of the rank in a crash loop; the others ended as they were told
		}
	case gaveUp.Why != "":
		r.Text += "; " + gaveUp.Why
	}
	if l.unheard != "" && r.Cause != nil {
		c := *r.Cause
		c.Text = l.unheard
		r.Text, r.Cause = c.Text, &c
	}
	if c := l.stopCause(); c != nil && r.Cause == nil {
		r.Rank, r.Host, r.Text, r.Cause = c.Rank, c.Host, c.Error(), c
	}
	return r
}

// keepSilence looks, when the job has ended for a rank, whether that rank's host is silent. The
// network between the hosts is the first cause then.
func (l *launcher) keepSilence() {
	c := l.config.Server.Cause()
	if c == nil || c.Rank < 0 {
		return
	}
	for _, g := range l.logins {
		if d := g.silence.lasts(); d >= silentNotice && g.target.host == l.assignments[c.Rank].Host {
			l.unheard = fmt.Sprintf("host %s and the launcher did not hear each other for %.0f s", g.target.name, d.Seconds())
		}
	}
}

// stopCause returns which worker a signal has told to end, if that signal came to ranks
// alone and all ranks have ended for it. Which rank ended first does not matter then.
func (l *launcher) stopCause() *ring.Cause {
	first := l.termination.firstFailure
	if first == nil || !first.Obedient() || l.termination.signal != 0 || l.config.Server == nil {
		return nil
	}
	return l.config.Server.Stopped()
}
