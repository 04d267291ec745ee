package launch

import (
	"syscall"
	"time"
)

// settling is how long the other ranks have to end by themselves after the
// first failure, before they are told to.
const settling = time.Second

// dying is how long a process may take to end after KILL. It is longer only in
// the grip of a dead disk or network file system.
const dying = 10 * time.Second

// course decides how a run comes to its end: which failure counts, who is told
// to end, and when. It knows no clock and no process.
//
//	first failure ──1 s──► TERM ──grace──► KILL ──10 s──► give up
//	signal ──► passed on; a rank ends ──grace──► KILL
//	second signal ──► KILL
type course struct {
	grace   time.Duration
	first   *ending        // the failure that counts
	signal  syscall.Signal // that was passed on; 0 if none
	told    bool           // TERM or KILL was ours: what fails from now on does not count
	killed  bool
	termAt  time.Time // zero: not planned
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
)

// ended takes note of a rank's end, and tells whether it is a failure of its
// own accord.
func (c *course) ended(e ending, now time.Time) (failed bool) {
	if c.told {
		return false
	}
	if c.signal != 0 && c.killAt.IsZero() {
		c.killAt = now.Add(c.grace)
	}
	if e.ok() {
		return false
	}
	if c.first == nil || c.first.symptom() && !e.symptom() {
		// A rank that lost another may be seen to end before that other one.
		c.first = &e
	}
	if c.signal == 0 && c.termAt.IsZero() {
		c.termAt = now.Add(settling)
	}
	return c.signal == 0 || !e.obedient()
}

// signalled takes note of a signal to the launcher.
func (c *course) signalled(s syscall.Signal, now time.Time) order {
	if c.signal != 0 {
		return c.kill(now)
	}
	c.signal = s
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
	c.termAt, c.killAt, c.leaveAt = time.Time{}, time.Time{}, now.Add(dying)
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

// result is that of the first failure. Ranks that we killed after a signal
// have none: the signal itself is the reason.
func (c *course) result() Result {
	switch {
	case c.first != nil:
		return Result{Code: c.first.code(), Rank: c.first.rank, Text: c.first.String()}
	case c.killed && c.signal != 0:
		return Result{Code: 128 + int(c.signal), Rank: -1, Text: "ranks were killed after " + signalText(c.signal)}
	}
	return Result{Rank: -1}
}
