package launch

import (
	"fmt"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/process"
	"ringtrain/ring/phrase"
)

// The rendezvous decides whether a failed rank is started again: it counts the restarts and
// detects crash loops. The launcher starts the rank once no process of it is left and its
// delay is over.

// askRestart reports a rank's end to the rendezvous, and returns whether the rank is to be
// started again.
func (l *launcher) askRestart(e process.Ending) bool {
	s := l.config.Server
	if e.OK() || !e.Retryable() || l.config.Restarts == 0 || s == nil || !l.termination.undisturbed() {
		return false
	}
	v := s.Lost(e.Rank, e.Cause(), exitcode.Retry)
	if !v.Again {
		return false
	}
	l.restartAt[e.Rank] = l.now().Add(v.After)
	l.lastEnding[e.Rank] = e
	if e.Lost {
		l.failover.unplaced[e.Rank] = e
		return true
	}
	in := ""
	if v.After > 0 {
		in = fmt.Sprintf(" in %v", v.After)
	}
	l.config.tell(fmt.Sprintf("%v: it is started again%s (%s left)", e, in, phrase.Count(s.RestartsLeft(), "restart")))
	return true
}

// willRestart reports whether a rank is to be started again.
func (l *launcher) willRestart(rank int) bool {
	_, ok := l.restartAt[rank]
	return ok
}

// restartCleared starts a rank again of which no process is left, if the job still goes on.
// The rank may have to wait for its delay.
func (l *launcher) restartCleared(rank int) error {
	at, ok := l.restartAt[rank]
	if !ok {
		return nil
	}
	if l.termination.undisturbed() && l.now().Before(at) {
		l.ranks[rank], l.delayed[rank] = false, at
		return nil
	}
	delete(l.restartAt, rank)
	if !l.termination.undisturbed() {
		l.termination.restartsDropped = true
		return nil
	}
	for len(l.givenUp) > 0 { // ranks given up before now are not those that start now
		l.killGivenUp(<-l.givenUp)
	}
	return l.start(rank)
}

// restartDelayed starts the ranks whose delay is over. Once the job ends it drops them all.
func (l *launcher) restartDelayed(now time.Time) error {
	for rank, at := range l.delayed {
		if l.termination.undisturbed() && now.Before(at) {
			continue
		}
		delete(l.delayed, rank)
		delete(l.ranks, rank)
		if err := l.restartCleared(rank); err != nil {
			return err
		}
	}
	return nil
}

// nextRestart returns when the first delay is over; zero if no rank waits.
func (l *launcher) nextRestart() time.Time {
	var next time.Time
	for _, at := range l.delayed {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// exitCodeForOthers returns the exit code of the other ranks. It allows another run, unless
// the rank's own code says that another run would not help.
func (c *Config) exitCodeForOthers(e process.Ending) int {
	if c.Restarts == 0 || e.Retryable() {
		return exitcode.Retry
	}
	return e.Code()
}
