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
type course struct {
	grace   time.Duration
	first   *process.Ending // the failure that counts
	signal  syscall.Signal  // that was passed on; 0 if none
	since   time.Time       // when that came
	told    bool            // TERM or KILL was ours: what fails from now on does not count
	killed  bool
	dropped bool          // ranks that were to be started again are not
	late    time.Duration // the time that was up; 0: it is not
	termAt  time.Time     // zero: not planned
	killAt  time.Time
	leaveAt time.Time
}

// order is what the launcher has to do next.
type order int

const (
	orderNothing order = iota
	orderPass          // pass course.signal on to all ranks
	orderTerm
	orderKill
	orderLeave // some ranks cannot be killed: give up on them
	orderDump  // have the ranks say what they do: SIGQUIT
)

// signal is what an order sends to all ranks; 0 for nothing.
func (o order) signal(c *course) syscall.Signal {
	switch o {
	case orderPass:
		return c.signal
	case orderDump:
		return syscall.SIGQUIT
	case orderTerm:
		return syscall.SIGTERM
	case orderKill:
		return syscall.SIGKILL
	}
	return 0
}

// calm tells whether nothing has happened that ends the run.
func (c *course) calm() bool { return c.first == nil && c.signal == 0 && !c.told && c.late == 0 }

// ended takes note of a rank's end, and tells whether it is a failure of its
// own accord.
func (c *course) ended(e process.Ending, now time.Time) (failed bool) {
	if c.told || c.late > 0 {
		if e.Lost && c.first != nil && c.first.Symptom() { // found out late, but none of our doing
			c.first = &e
		}
		return false
	}
	if c.signal != 0 && c.killAt.IsZero() {
		c.killAt = now.Add(c.grace)
	}
	if e.OK() {
		return false
	}
	if c.first == nil || c.first.Symptom() && !e.Symptom() {
		// A rank that lost another may be seen to end before that other one.
		c.first = &e
	}
	if c.signal == 0 && c.termAt.IsZero() {
		c.termAt = now.Add(process.SettleTime)
	}
	return !c.obeys(e)
}

// obeys tells whether a rank ended as a signal to the launcher had asked it to: by
// itself, or of the signal, if it has no handler, or not yet.
func (c *course) obeys(e process.Ending) bool {
	return c.signal != 0 && (e.Obedient() || e.Signal == c.signal)
}

// signalled takes note of a signal to the launcher.
func (c *course) signalled(s syscall.Signal, now time.Time) order {
	switch {
	case c.signal == 0:
	case now.Sub(c.since) < SameTime:
		return orderNothing
	default:
		return c.kill(now)
	}
	c.signal, c.since = s, now
	if !c.termAt.IsZero() { // they are told now; a second TERM would cut them short
		c.termAt, c.killAt = time.Time{}, now.Add(c.grace)
	}
	return orderPass
}

// cancelled takes note of the end of the launcher's context, or of its own
// fault.
func (c *course) cancelled(now time.Time) order {
	if c.told {
		return orderNothing
	}
	c.told, c.termAt, c.killAt = true, time.Time{}, now.Add(c.grace)
	return orderTerm
}

// expired takes note that the time of the run, d, is up.
func (c *course) expired(d time.Duration, now time.Time) order {
	if c.first != nil || c.told {
		return orderNothing
	}
	c.late, c.termAt = d, now.Add(process.SettleTime)
	return orderDump
}

// tick returns what is due.
func (c *course) tick(now time.Time) order {
	due := func(t time.Time) bool { return !t.IsZero() && !now.Before(t) }
	switch {
	case due(c.leaveAt):
		return orderLeave
	case due(c.killAt):
		return c.kill(now)
	case due(c.termAt):
		return c.cancelled(now)
	}
	return orderNothing
}

func (c *course) kill(now time.Time) order {
	c.told, c.killed = true, true
	c.termAt, c.killAt, c.leaveAt = time.Time{}, time.Time{}, now.Add(process.KillTimeout)
	return orderKill
}

// next returns when tick has something to do; zero if never.
func (c *course) next() time.Time {
	for _, t := range []time.Time{c.leaveAt, c.killAt, c.termAt} {
		if !t.IsZero() {
			return t // at most one is planned
		}
	}
	return time.Time{}
}

// result is that of the first failure. Ranks that obey a signal to the launcher, or
// that we killed after one, or that were not started again, have none: the signal itself is the reason.
func (c *course) result() Result {
	switch {
	case c.first != nil && c.obeys(*c.first):
		return Result{Code: c.first.Code(), Rank: -1, Text: "stopped by " + process.SignalText(c.signal)}
	case c.first != nil:
		return Result{Code: c.first.Code(), Rank: c.first.Rank, Host: c.first.Host, Text: c.first.String()}
	case c.late > 0:
		return Result{Code: TimedOut, Rank: -1, Text: fmt.Sprintf("not done after %v (--timeout): ranks were told to dump and to end", c.late)}
	case c.killed && c.signal != 0:
		return Result{Code: 128 + int(c.signal), Rank: -1, Text: "ranks were killed after " + process.SignalText(c.signal)}
	case c.dropped && c.signal != 0:
		return Result{Code: 128 + int(c.signal), Rank: -1, Text: "stopped by " + process.SignalText(c.signal) + " while ranks were to be started again"}
	}
	return Result{Rank: -1}
}
