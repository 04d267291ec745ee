package launch

import (
	"fmt"
	"syscall"
	"time"

	"ringtrain/ring/launch/process"
)

// SameTime is the time after a signal that asks to end in which a second one counts as the
// same. Such a signal often comes twice, to the launcher and to the ranks: from pkill,
// systemd, containers, timeout(1), or a shell that ends with its terminal. The second one
// is no reason to hurry, for the ranks are to save their state.
const SameTime = 500 * time.Millisecond

// TimedOut is the exit code of a run after its timeout: ETIMEDOUT, as with mpirun. To
// repeat the run does not help.
const TimedOut = 110

// termination decides how a run ends: which failure counts, and when the ranks get which
// signal. It knows no clock and no process.
//
//	first failure ──1 s──► TERM ──grace──► KILL ──10 s──► give up
//	signal ──► passed on; a rank ends ──grace──► KILL
//	second signal, SameTime later or more ──► KILL
//	timeout ──► QUIT ──1 s──► TERM ──grace──► KILL
type termination struct {
	grace           time.Duration
	firstFailure    *process.Ending // the failure that counts
	signal          syscall.Signal  // the signal that was passed on; 0: none
	signaledAt      time.Time       // when that signal came
	endSent         bool            // the launcher has sent TERM or KILL: later failures do not count
	killSent        bool
	restartsDropped bool          // ranks that were to be started again were not
	expiredTimeout  time.Duration // the timeout of the run, once it is over; else 0
	termAt          time.Time     // zero: not planned
	killAt          time.Time
	giveUpAt        time.Time
}

// action is what the launcher has to do next.
type action int

const (
	actionNone    action = iota
	actionForward        // pass termination.signal on to all ranks
	actionTerm
	actionKill
	actionGiveUp // some ranks cannot be killed: stop waiting for them
	actionDump   // SIGQUIT, on which ranks dump their state
)

// signal returns the signal of an action to all ranks; 0 for none.
func (o action) signal(c *termination) syscall.Signal {
	switch o {
	case actionForward:
		return c.signal
	case actionDump:
		return syscall.SIGQUIT
	case actionTerm:
		return syscall.SIGTERM
	case actionKill:
		return syscall.SIGKILL
	}
	return 0
}

// undisturbed reports whether no event has ended the run yet.
func (c *termination) undisturbed() bool {
	return c.firstFailure == nil && c.signal == 0 && !c.endSent && c.expiredTimeout == 0
}

// rankEnded handles a rank's end. It reports whether the rank has failed of its own accord.
func (c *termination) rankEnded(e process.Ending, now time.Time) (failed bool) {
	if c.endSent || c.expiredTimeout > 0 {
		if e.Lost && c.firstFailure != nil && c.firstFailure.Symptom() { // the loss came first, though its notice came late
			c.firstFailure = &e
		}
		return false
	}
	if c.signal != 0 && c.killAt.IsZero() {
		c.killAt = now.Add(c.grace)
	}
	if e.OK() {
		return false
	}
	if c.firstFailure == nil || c.firstFailure.Symptom() && !e.Symptom() {
		// A rank that has lost another may end before that other one is seen to end.
		c.firstFailure = &e
	}
	if c.signal == 0 && c.termAt.IsZero() {
		c.termAt = now.Add(process.SettleTime)
	}
	return !c.obeys(e)
}

// obeys reports whether a rank ended as a signal to the launcher had asked it to: by
// itself, or by the signal, if it has no handler yet.
func (c *termination) obeys(e process.Ending) bool {
	return c.signal != 0 && (e.Obedient() || e.Signal == c.signal)
}

// signaled handles a signal to the launcher.
func (c *termination) signaled(s syscall.Signal, now time.Time) action {
	switch {
	case c.signal == 0:
	case now.Sub(c.signaledAt) < SameTime:
		return actionNone
	default:
		return c.kill(now)
	}
	c.signal, c.signaledAt = s, now
	if !c.termAt.IsZero() { // this signal tells the ranks; a second TERM would interrupt their saving
		c.termAt, c.killAt = time.Time{}, now.Add(c.grace)
	}
	return actionForward
}

// cancel handles the end of the launcher's context, or a fault of the launcher.
func (c *termination) cancel(now time.Time) action {
	if c.endSent {
		return actionNone
	}
	c.endSent, c.termAt, c.killAt = true, time.Time{}, now.Add(c.grace)
	return actionTerm
}

// expire handles the end of the run's timeout d.
func (c *termination) expire(d time.Duration, now time.Time) action {
	if c.firstFailure != nil || c.endSent {
		return actionNone
	}
	c.expiredTimeout, c.termAt = d, now.Add(process.SettleTime)
	return actionDump
}

// tick returns the action that is due.
func (c *termination) tick(now time.Time) action {
	due := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	switch {
	case due(c.giveUpAt):
		return actionGiveUp
	case due(c.killAt):
		return c.kill(now)
	case due(c.termAt):
		return c.cancel(now)
	}
	return actionNone
}

// kill plans the time to give up.
func (c *termination) kill(now time.Time) action {
	c.endSent, c.killSent = true, true
	c.termAt, c.killAt, c.giveUpAt = time.Time{}, time.Time{}, now.Add(process.KillTimeout)
	return actionKill
}

// nextDeadline returns when tick has something to do; zero if never.
func (c *termination) nextDeadline() time.Time {
	for _, t := range []time.Time{c.giveUpAt, c.killAt, c.termAt} {
		if !t.IsZero() {
			return t // at most one is planned
		}
	}
	return time.Time{}
}

// result returns the result of the first failure. Ranks that obey a signal to the launcher,
// that the launcher kills after one, or that are not started again do not fail: then the
// signal is the reason.
func (c *termination) result() Result {
	switch {
	case c.firstFailure != nil && c.obeys(*c.firstFailure):
		return Result{Code: c.firstFailure.Code(), Rank: -1, Text: "stopped by " + process.SignalText(c.signal)}
	case c.firstFailure != nil:
		return Result{Code: c.firstFailure.Code(), Rank: c.firstFailure.Rank, Host: c.firstFailure.Host, Text: c.firstFailure.String()}
	case c.expiredTimeout > 0:
		return Result{Code: TimedOut, Rank: -1, Text: fmt.Sprintf("not done after %v (--timeout): ranks were told to dump and to end", c.expiredTimeout)}
	case c.killSent && c.signal != 0:
		return Result{Code: 128 + int(c.signal), Rank: -1, Text: "ranks were killed after " + process.SignalText(c.signal)}
	case c.restartsDropped && c.signal != 0:
		return Result{Code: 128 + int(c.signal), Rank: -1, Text: "stopped by " + process.SignalText(c.signal) + " while ranks were to be started again"}
	}
	return Result{Rank: -1}
}
