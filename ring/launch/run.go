package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"syscall"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
)

// Rendezvous is what Run needs of the rendezvous that the launcher serves.
type Rendezvous interface {
	// Lost reports that a rank's process is gone, and the exit code for the
	// others.
	Lost(rank int, text string, code int)

	// Cause returns the first cause of the job's end, or nil.
	Cause() *ring.Cause
}

// Config says what to run.
type Config struct {
	NP         int              // ranks to start, 1 or more
	Program    []string         // argv; Program[0] is looked up in PATH
	Env        []string         // base environment; Run adds each rank's place
	Rendezvous string           // host:port, for RINGTRAIN_RENDEZVOUS; "" sets none
	JobID      string           // for RINGTRAIN_JOB_ID
	Token      ring.Token       // for RINGTRAIN_TOKEN
	Bare       bool             // rank 0's standard output unprefixed, the others' to Stderr
	JSON       bool             // Bare, and RINGTRAIN_JSON=1 for the ranks
	Stdout     io.Writer        // nil discards
	Stderr     io.Writer        // nil discards
	Grace      time.Duration    // between TERM and KILL; 0 means 10 s
	Server     Rendezvous       // told of dead ranks; may be nil
	Signals    <-chan os.Signal // passed on to the ranks; a second one kills them
}

// Result is how the ranks ended.
type Result struct {
	Code  int         // of the first rank that failed, 128+n for signal n; 0 if none did
	Rank  int         // that rank; -1 if none failed
	Cause *ring.Cause // what the rendezvous knows of it; may be nil
	Text  string      // "rank 2 (pid 123) ended with exit code 65", …; "" if none failed
}

// Run starts the ranks, passes on what they print, and returns when all have
// ended, with the failure that came first.
//
// After the first failure the others get TERM one second later (a rank whose
// generation has ended ends by itself) and KILL after Grace. A signal is
// passed on to all; once the first rank has ended after it, the others have
// Grace. The end of ctx is TERM, then KILL, and Run returns its cause.
//
// Rank 0 gets this process's standard input, unless that is a terminal; the
// others get none.
//
// An error means that the ranks could not be started or their output not be
// passed on: exitcode.Usage, NotFound, NotRunnable, IO, or Failed. A rank that
// had been started has then ended as well.
//
// Run panics in a guard process, since main has then not called Guard.
func Run(ctx context.Context, c Config) (Result, error) {
	if IsGuard() {
		panic("launch: main does not call Guard")
	}
	if err := c.check(); err != nil {
		return Result{Rank: -1}, exitcode.With(exitcode.Usage, err)
	}
	path, err := lookUp(c.Program[0])
	if err != nil {
		return Result{Rank: -1}, err
	}
	// The parent-death signal comes when the thread dies, not the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	g, err := startGuard()
	if err != nil {
		return Result{Rank: -1}, err
	}
	l := &launcher{
		config: &c,
		course: course{grace: c.Grace},
		guard:  g,
		outlet: &outlet{out: c.Stdout, err: c.Stderr},
		events: make(chan event, 2*c.NP),
		left:   map[int]*child{},
	}
	err = l.run(ctx, path)
	g.end()
	return l.result(), err
}

// check fills in defaults and returns all that is wrong.
func (c *Config) check() error {
	var errs []error
	if c.NP < 1 {
		errs = append(errs, fmt.Errorf("np is %d, want 1 or more", c.NP))
	}
	if len(c.Program) == 0 || c.Program[0] == "" {
		errs = append(errs, errors.New("program is missing, want a job or a command"))
	}
	if c.Grace < 0 {
		errs = append(errs, fmt.Errorf("grace is %v, want 0 or more", c.Grace))
	}
	if c.Grace == 0 {
		c.Grace = 10 * time.Second
	}
	if c.Stdout == nil {
		c.Stdout = io.Discard
	}
	if c.Stderr == nil {
		c.Stderr = io.Discard
	}
	return errors.Join(errs...)
}

// launcher runs the ranks of one Config. Its own goroutine alone touches it;
// one more for each rank waits for the process and reports.
type launcher struct {
	config *Config
	course course
	guard  *guard
	outlet *outlet
	events chan event     // two for each rank
	left   map[int]*child // not cleared yet
}

// event is what happened to a rank: its process ended; or, later, nothing of
// it is left.
type event struct {
	ending
	cleared bool
}

func (l *launcher) run(ctx context.Context, path string) error {
	fault := l.startAll(path)
	if fault != nil {
		l.carryOut(l.course.cancelled(time.Now()))
	}
	fault = errors.Join(fault, l.attend(ctx))
	if err := l.outlet.fault(); err != nil {
		fault = errors.Join(fault, exitcode.With(exitcode.IO, fmt.Errorf("output of the ranks: %w", err)))
	}
	return fault
}

func (l *launcher) startAll(path string) error {
	for rank := range l.config.NP {
		ch, err := startChild(l.config, path, rank, l.outlet)
		if err != nil {
			return fmt.Errorf("start rank %d: %w", rank, err)
		}
		l.left[rank] = ch
		err = l.guard.watch(ch.group.id)
		go l.await(ch)
		if err != nil {
			return err
		}
	}
	return nil
}

// await reports the end of ch. The channel has room for all events.
func (l *launcher) await(ch *child) {
	e := ch.wait()
	l.events <- event{e, false}
	if ch.clear(l.config.Grace) {
		l.guard.forget(ch.group.id)
	}
	l.events <- event{e, true}
}

// attend returns when all ranks are cleared.
func (l *launcher) attend(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	cancelled, signals := ctx.Done(), l.config.Signals
	var fault error
	for len(l.left) > 0 {
		l.wake(timer)
		now := orderNothing
		select {
		case e := <-l.events:
			l.took(e)
		case s, ok := <-signals:
			if sig, is := s.(syscall.Signal); is {
				now = l.course.signalled(sig, time.Now())
			}
			if !ok {
				signals = nil
			}
		case <-cancelled:
			cancelled, fault = nil, context.Cause(ctx)
			now = l.course.cancelled(time.Now())
		case <-timer.C:
			now = l.course.tick(time.Now())
		}
		if now == orderLeave {
			return errors.Join(fault, fmt.Errorf("%d ranks do not end, even by KILL", len(l.left)))
		}
		l.carryOut(now)
	}
	return fault
}

// wake sets the timer to when the course has something to do.
func (l *launcher) wake(timer *time.Timer) {
	if at := l.course.next(); !at.IsZero() {
		timer.Reset(time.Until(at))
		return
	}
	timer.Stop()
}

// took takes note of an event, and tells the rendezvous of a bad end. A rank
// that has told its cause there has done so before.
func (l *launcher) took(e event) {
	if e.cleared {
		delete(l.left, e.rank)
		return
	}
	if failed := l.course.ended(e.ending, time.Now()); failed && l.config.Server != nil {
		l.config.Server.Lost(e.rank, e.cause(), exitcode.Retry)
	}
}

func (l *launcher) carryOut(o order) {
	s := map[order]syscall.Signal{orderPass: l.course.signal, orderTerm: syscall.SIGTERM, orderKill: syscall.SIGKILL}[o]
	if s == 0 {
		return
	}
	for _, ch := range l.left {
		ch.group.signal(s)
	}
}

// result is the course's, with the cause that the rendezvous knows.
func (l *launcher) result() Result {
	r := l.course.result()
	if l.config.Server != nil {
		r.Cause = l.config.Server.Cause()
	}
	return r
}
