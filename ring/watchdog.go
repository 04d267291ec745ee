package ring

import (
	"context"
	"fmt"
	"time"
)

// watchEvery bounds how long the watchdog takes to notice something.
const watchEvery = 100 * time.Millisecond

// watch ends the group when its context ends, and when the running operation
// may not or cannot go on. It looks from time to time, so that operations need
// neither timers nor contexts of their own.
func (g *Group) watch() {
	tick := time.NewTicker(min(watchEvery, g.config.OpTimeout))
	defer tick.Stop()
	var aboutMe *Abort
	var spoken <-chan time.Time // when aboutMe counts
	for {
		select {
		case <-g.quit:
			return
		case <-g.ctx.Done():
			g.end(g.waitError(context.Cause(g.ctx)))
			return
		case a := <-g.aborts:
			if a.Rank != g.members.Self().Rank {
				g.endForAbort(a)
				return
			}
			// The neighbour lost this worker's link. If an error of an exchange has ended
			// the link here, the exchange tells the cause, in a moment.
			aboutMe, spoken = a, time.After(watchEvery)
		case <-spoken:
			g.endForAbort(aboutMe)
			return
		case <-tick.C:
			if err := g.overdue(time.Now()); err != nil {
				g.end(g.waitError(err))
				return
			}
		}
	}
}

// overdue returns why the running operation must end, or nil. A pause of this
// process does not count: nothing moved meanwhile, and nobody else is to blame.
func (g *Group) overdue(now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	missed := g.clock.Pause(now)
	if g.op.kind == 0 {
		return nil
	}
	if g.op.ctx.Err() != nil {
		return context.Cause(g.op.ctx)
	}
	idle := g.op.stall.idle(g.moved(), now, missed)
	if g.host != nil && g.host.across != nil && g.host.across.kind != 0 { // the host may go on for a while without this driver
		w := g.host.across
		idle = max(idle, w.stall.idle(w.progress.Load(), now, missed))
	}
	if idle >= g.config.OpTimeout {
		return fmt.Errorf("%w: nothing moved for %v", ErrTimeout, idle.Round(time.Millisecond))
	}
	return nil
}

// A stall measures how long nothing has moved, as far as the watchdog saw. The zero stall
// begins when the watchdog looks first.
type stall struct {
	since time.Time // when something last moved; zero: the watchdog has not looked yet
	seen  uint64    // the count of what has moved, then
}

// idle takes in the count of what has moved until now, and returns how long nothing has. A
// pause of this process, missed since the last look, does not count.
func (s *stall) idle(moved uint64, now time.Time, missed time.Duration) time.Duration {
	if moved != s.seen || s.since.IsZero() {
		s.seen, s.since = moved, now
	} else {
		s.since = s.since.Add(missed)
	}
	return now.Sub(s.since)
}

// moved counts what the group's operations have moved: on two levels, on the
// whole host, since a worker may wait for what others do.
func (g *Group) moved() uint64 {
	if g.host != nil {
		return g.host.moved()
	}
	return g.ownMoved()
}
