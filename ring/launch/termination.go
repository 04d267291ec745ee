package launch

import (
	"fmt"
	"syscall"
	"time"

	"ringtrain/ring/launch/process"
)

// SameTime is how long after a signal that asks to end another one is taken for the
// same. That comes twice to the launcher, and once more to ranks, where whoever ends the
// job means all of its processes, or a process and its group: pkill, systemd and
// containers, timeout(1), a shell that ends with its terminal. That is no haste, and the
// state is to be saved.
const SameTime = 500 * time.Millisecond

// TimedOut is the exit code of a run whose time was up: ETIMEDOUT, as mpirun has
// it. To run the same again is no remedy.
const TimedOut = 110

// course decides how a run comes to its end: which failure counts, who is told
// to end, and when. It knows no clock and no process.
//
//	first failure ──1 s──► TERM ──grace──► KILL ──10 s──► give up
//	signal ──► passed on; a rank ends ──grace──► KILL
//	second signal, SameTime later or more ──► KILL
//	time is up ──► QUIT ──1 s──► TERM ──grace──► KILL
type termination struct {
	grace           time.Duration
	firstFailure    *process.Ending // the failure that counts
	signal          syscall.Signal  // that was passed on; 0 if none
	signaledAt      time.Time       // when that came
	endSent         bool            // TERM or KILL was ours: what fails from now on does not count
	killSent        bool
	restartsDropped bool          // ranks that were to be started again are not
	expiredTimeout  time.Duration // the time that was up; 0: it is not
	termAt          time.Time     // zero: not planned
	killAt          time.Time
	giveUpAt        time.Time
}

// order is what the launcher has to do next.
type action int

const (
	actionNone    action = iota
	actionForward        // pass course.signal on to all ranks
	actionTerm
	actionKill
	actionGiveUp // some ranks cannot be killed: give up on them
	actionDump   // have the ranks say what they do: SIGQUIT
)

// signal is what an order sends to all ranks; 0 for nothing.
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

// calm tells whether nothing has happened that ends the run.
func (c *termination) undisturbed() bool {
	return c.firstFailure == nil && c.signal == 0 && !c.endSent && c.expiredTimeout == 0
}

// ended takes note of a rank's end, and tells whether it is a failure of its
// own accord.
func (c *termination) rankEnded(e process.Ending, now time.Time) (failed bool) {
	if c.endSent || c.expiredTimeout > 0 {
		if e.Lost && c.firstFailure != nil && c.firstFailure.Symptom() { // found out late, but none of our doing
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
		// A rank that lost another may be seen to end before that other one.
		c.firstFailure = &e
	}
	if c.signal == 0 && c.termAt.IsZero() {
		c.termAt = now.Add(process.SettleTime)
	}
	return !c.obeys(e)
}

// obeys tells whether a rank ended as a signal to the launcher had asked it to: by
// itself, or of the signal, if it has no handler, or not yet.
func (c *termination) obeys(e process.Ending) bool {
	return c.signal != 0 && (e.Obedient() || e.Signal == c.signal)
}

// signalled takes note of a signal to the launcher.
func (c *termination) signaled(s syscall.Signal, now time.Time) action {
	switch {
	case c.signal == 0:
	case now.Sub(c.signaledAt) < SameTime:
		return actionNone
	default:
		return c.kill(now)
	}
	c.signal, c.signaledAt = s, now
	if !c.termAt.IsZero() { // they are told now; a second TERM would cut them short
		c.termAt, c.killAt = time.Time{}, now.Add(c.grace)
	}
	return actionForward
}

// cancelled takes note of the end of the launcher's context, or of its own
// fault.
func (c *termination) cancel(now time.Time) action {
	if c.endSent {
		return actionNone
	}
	c.endSent, c.termAt, c.killAt = true, time.Time{}, now.Add(c.grace)
	return actionTerm
}

// expired takes note that the time of the run, d, is up.
func (c *termination) expire(d time.Duration, now time.Time) action {
	if c.firstFailure != nil || c.endSent {
		return actionNone
	}
	c.expiredTimeout, c.termAt = d, now.Add(process.SettleTime)
	return actionDump
}

// tick returns what is due.
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

func (c *termination) kill(now time.Time) action {
	c.endSent, c.killSent = true, true
	c.termAt, c.killAt, c.giveUpAt = time.Time{}, time.Time{}, now.Add(process.KillTimeout)
	return actionKill
}

// next returns when tick has something to do; zero if never.
func (c *termination) nextDeadline() time.Time {
	for _, t := range []time.Time{c.giveUpAt, c.killAt, c.termAt} {
		if !t.IsZero() {
			return t // at most one is planned
		}
	}
	return time.Time{}
}

// result is that of the first failure. Ranks that obey a signal to the launcher, or
// that we killed after one, or that were not started again, have none: the signal itself is the reason.
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
