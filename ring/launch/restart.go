package launch

import (
	"time"

	"ringtrain/ring/exitcode"
)

// A rank that comes down so fast, so often in so long a time is in a loop.
const (
	quickCrash  = 10 * time.Second // after its start
	crashes     = 3
	crashWindow = 5 * time.Minute
)

// restarts decides whether a rank that failed is started again. It knows no
// clock and no process.
type restarts struct {
	left  int // for all ranks together
	since map[int]time.Time
	quick map[int][]crash
}

type crash struct {
	ending
	at time.Time
}

func newRestarts(n int) *restarts {
	return &restarts{left: n, since: map[int]time.Time{}, quick: map[int][]crash{}}
}

// started takes note of a rank's start.
func (r *restarts) started(rank int, now time.Time) { r.since[rank] = now }

// again tells whether a rank that ended so is to be started again, and counts
// it. If not, it returns the ending that counts: in a loop of crashes the
// first one.
func (r *restarts) again(e ending, now time.Time) (ending, bool) {
	if r.left == 0 || !e.retryable() {
		return e, false
	}
	if now.Sub(r.since[e.rank]) < quickCrash {
		kept := r.quick[e.rank][:0]
		for _, c := range r.quick[e.rank] {
			if now.Sub(c.at) <= crashWindow {
				kept = append(kept, c)
			}
		}
		kept = append(kept, crash{e, now})
		r.quick[e.rank] = kept
		if len(kept) >= crashes {
			return kept[0].ending, false
		}
	}
	r.left--
	return e, true
}

// retryable tells whether to start the rank again may help: a signal killed it, its
// exit code says so, or its host is gone.
func (e ending) retryable() bool { return e.lost || e.signal != 0 || e.exit >= 128 }

// mayRestart tells whether a rank that has ended belongs to a job that goes on.
// Before all ranks have met there is nothing to go on with, nor after its end.
func (l *launcher) mayRestart(e ending) bool {
	s := l.config.Server
	return !e.ok() && l.course.calm() && s != nil && s.Begun() && s.Cause() == nil && !closed(s.Done())
}

// closed tells whether c is.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// restart starts a rank again of which nothing is left, if that was decided
// and nothing has happened since.
func (l *launcher) restart(rank int) error {
	if !l.again[rank] {
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

// codeForOthers is what the others end with: they may be run again, unless the
// rank's own code says that this helps nobody.
func (l *launcher) codeForOthers(e ending) int {
	if l.config.Restarts == 0 || e.retryable() {
		return exitcode.Retry
	}
	return e.code()
}
