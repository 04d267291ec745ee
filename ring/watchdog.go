package ring

import (
	"context"
	"fmt"
	"time"
)

// watchEvery bounds the delay of the watchdog.
const watchEvery = 100 * time.Millisecond

// watch ends the group when its context ends, when a neighbour has aborted, or when the running
// operation must end. It polls, so that operations need neither timers nor contexts of their
// own.
func (g *Group) watch() {
	tick := time.NewTicker(min(watchEvery, g.config.OpTimeout))
	defer tick.Stop()
	var aboutMe *Abort
	var spoken <-chan time.Time // when aboutMe counts
	for {
		select {
		case <-g.stop:
			return
		case <-g.ctx.Done():
			g.end(g.waitError(context.Cause(g.ctx)))
			return
		case a := <-g.aborts:
			if a.Rank != g.members.Self().Rank {
				g.endForAbort(a)
				return
			}
			// The neighbour lost this worker's link. If an exchange failed here first, its
			// error with the cause follows within a moment.
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

// overdue returns why the running operation must end, or nil. A pause of this process does not
// count: nothing moved meanwhile, and no other worker is to blame.
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
	moved := g.ownMoved()
	if g.host != nil {
		moved = g.host.moved(moved) // of the whole host, since a worker may wait for others
	}
	idle := g.op.stall.idle(moved, now, missed)
	if g.host != nil && g.host.across != nil { // the host may go on for a while without this driver
		idle = max(idle, g.host.across.idle(now, missed))
	}
	if idle >= g.config.OpTimeout {
		return fmt.Errorf("%w: nothing moved for %v", ErrTimeout, idle.Round(time.Millisecond))
	}
	return nil
}

// A stall measures how long nothing has moved, as far as the watchdog has seen. The zero stall
// begins at the first look of the watchdog.
type stall struct {
	since time.Time // when something last moved; zero: the watchdog has not looked yet
	seen  uint64    // the count of what has moved, then
}

// idle returns how long nothing has moved, given the count of what has moved until now. missed
// is a pause of this process since the last look, which does not count.
func (s *stall) idle(moved uint64, now time.Time, missed time.Duration) time.Duration {
	if moved != s.seen || s.since.IsZero() {
		s.seen, s.since = moved, now
	} else {
		s.since = s.since.Add(missed)
	}
	return now.Sub(s.since)
}

// A Wait is what the group of a worker does right now, and for which worker it waits. A
// heartbeat carries it. The waits of all workers together show the root of a stall.
type Wait struct {
	Operation string    // "all-reduce", "all-gather", "broadcast", "barrier", "arena"; "": none runs
	Seq       uint64    // number of the operation in its generation; if none runs, of the next one
	Elements  int       // of the buffer that all ranks must have alike; 0: none
	Peer      int       // rank that it waits for: a neighbour, or a worker of this host; -1: for nobody
	Since     time.Time // when something last moved, to within a tenth of a second; zero if none runs
	Moved     uint64    // frames and barriers that this worker has moved in the operation so far
}

// Waiting returns what the group does right now. It costs the operation nothing and may be
// called at any time.
func (g *Group) Waiting() Wait {
	s, step := g.op.waiting()
	w := Wait{Peer: -1}
	g.mu.Lock()
	defer g.mu.Unlock()
	w.Seq = g.op.seq
	if g.op.kind == 0 {
		w.Seq, w.Peer = g.seq, -1
		return w
	}
	w.Operation, w.Elements, w.Since = g.op.kind.String(), g.op.elements, g.op.stall.since
	w.Moved = g.ownMoved() - g.op.before
	if worker, ok := g.neighbour(s, step); ok {
		w.Peer = worker.Rank
	}
	if w.Since.IsZero() {
		w.Since = time.Now()
	}
	return w
}

// ownMoved returns the number of frames and barriers that this worker's operations have moved.
func (g *Group) ownMoved() uint64 {
	var own uint64
	if g.host != nil {
		own = g.host.passed.Load()
	}
	for _, w := range g.wires {
		own += w.progress.Load()
	}
	return own
}
