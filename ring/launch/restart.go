package launch

import (
	"fmt"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/internal/phrase"
	"ringtrain/ring/launch/process"
)

// Whether a rank that failed is started again the rendezvous decides, which counts the
// restarts and knows which rank is in a loop. The launcher carries it out: when nothing
// of the rank is left, and when its delay is over.

// restarts reports a rank's end to the rendezvous, and tells whether the rank is to be
// started again.
func (l *launcher) restarts(e process.Ending) bool {
	s := l.config.Server
	if e.OK() || !e.Retryable() || l.config.Restarts == 0 || s == nil || !l.course.calm() {
		return false
	}
	v := s.Lost(e.Rank, e.Cause(), exitcode.Retry)
	if !v.Again {
		return false
	}
	l.again[e.Rank] = l.now().Add(v.After)
	l.fell[e.Rank] = e
	if e.Lost {
		l.removal.homeless[e.Rank] = e
		return true
	}
	in := ""
	if v.After > 0 {
		in = fmt.Sprintf(" in %v", v.After)
	}
	l.config.tell(fmt.Sprintf("%v: it is started again%s (%s left)", e, in, phrase.Count(s.RestartsLeft(), "restart")))
	return true
}

// isAgain tells whether a rank is to be started again.
func (l *launcher) isAgain(rank int) bool {
	_, ok := l.again[rank]
	return ok
}

// restart starts a rank again of which nothing is left, if that was decided and nothing
// has happened since. It may have to wait for its delay.
func (l *launcher) restart(rank int) error {
	at, ok := l.again[rank]
	if !ok {
		return nil
	}
	if l.course.calm() && l.now().Before(at) {
		l.left[rank], l.due[rank] = false, at
		return nil
	}
	delete(l.again, rank)
	if !l.course.calm() {
		l.course.dropped = true
		return nil
	}
	for len(l.given) > 0 { // what was given up before is not the process that starts now
		l.end(<-l.given)
	}
	return l.start(rank)
}

// restartDue starts the ranks whose delay is over. Once the job ends it forgets them all.
func (l *launcher) restartDue(now time.Time) error {
	for rank, at := range l.due {
		if l.course.calm() && now.Before(at) {
			continue
		}
		delete(l.due, rank)
		delete(l.left, rank)
		if err := l.restart(rank); err != nil {
			return err
		}
	}
	return nil
}

// nextDue is when the first delay is over; zero if nobody waits.
func (l *launcher) nextDue() time.Time {
	var next time.Time
	for _, at := range l.due {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	return next
}

// codeForOthers is what the others end with: they may be run again, unless the
// rank's own code says that this helps nobody.
func (l *launcher) codeForOthers(e process.Ending) int {
	if l.config.Restarts == 0 || e.Retryable() {
		return exitcode.Retry
	}
	return e.Code()
}
