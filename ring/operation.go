package ring

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ringtrain/ring/exitcode"
)

// An operation is what the group is doing for its caller.
type operation struct {
	kind  opKind // 0: none is running
	seq   uint64
	ctx   context.Context
	since time.Time // when a frame last moved, as far as the watchdog saw
	seen  uint64    // g.progress then
}

type opKind uint8

const (
	opAllReduce opKind = iota + 1
	opAllGather
	opBroadcast
	opBarrier
)

func (k opKind) String() string {
	return [...]string{"", "all-reduce", "all-gather", "broadcast", "barrier"}[k]
}

// A side of this rank in the ring.
type side uint8

const (
	nobody side = iota
	left        // receives from
	right       // sends to
)

// waitFor says what the goroutine of the operation waits for from now on.
func (g *Group) waitFor(s side, step int) { g.wait.Store(uint64(step)<<2 | uint64(s)) }

// waiting returns what waitFor said last.
func (g *Group) waiting() (side, int) {
	w := g.wait.Load()
	return side(w & 3), int(w >> 2)
}

// begin starts an operation. Its error is what the operation returns.
func (g *Group) begin(ctx context.Context, kind opKind) error {
	select {
	case g.turn <- struct{}{}:
	default:
		if err := g.ended(); err != nil {
			return err
		}
		panic("ring: two operations at a time")
	}
	g.mu.Lock()
	g.op = operation{kind: kind, seq: g.seq, ctx: ctx, since: time.Now(), seen: g.progress.Load()}
	g.seq++
	g.mu.Unlock()
	err := g.ended()
	for _, ctx := range [...]context.Context{g.ctx, ctx} {
		if err == nil && ctx.Err() != nil {
			err = g.end(g.waitError(context.Cause(ctx)))
		}
	}
	if err != nil {
		g.finish()
	}
	return err
}

// finish ends what begin began.
func (g *Group) finish() {
	g.waitFor(nobody, 0)
	g.mu.Lock()
	g.op = operation{}
	g.mu.Unlock()
	<-g.turn
}

// ended returns the error of operations after the group's end, or nil.
func (g *Group) ended() error {
	err := g.failure()
	if err == nil || errors.Is(err, ErrGenerationEnded) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrGenerationEnded, err)
}

// Waiting returns what the group waits for right now: the operation and its
// number, the rank of the neighbour, and since when nothing has moved, to
// within a tenth of a second. ok is false when the group waits for nobody.
func (g *Group) Waiting() (op string, seq uint64, peer int, since time.Time, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, step := g.waiting()
	if g.op.kind == 0 || s == nobody {
		return "", 0, 0, time.Time{}, false
	}
	op, _ = g.phase(step)
	return op, g.op.seq, g.neighbour(s).Rank, g.op.since, true
}

// phase names the part of the running operation that a step of the ring
// belongs to, and the step in it.
func (g *Group) phase(step int) (string, int) {
	switch n := g.members.Size() - 1; {
	case g.op.kind != opAllReduce:
		return g.op.kind.String(), step
	case step < n:
		return "reduce-scatter", step
	default:
		return "all-gather", step - n
	}
}

func (g *Group) neighbour(s side) Worker {
	if s == left {
		return g.members.Left()
	}
	return g.members.Right()
}

// fail ends the group because the exchange with a neighbour failed, and
// returns the first failure, which may be another one: a link that the
// watchdog closed tells nothing but that. The cause of a context that has ended
// counts more than what the exchange met with, for then all ranks are closing
// their links.
func (g *Group) fail(s side, step int, err error) error {
	switch {
	case g.ctx.Err() != nil:
		err = withCode(context.Cause(g.ctx))
	case g.x.ctx.Err() != nil:
		err = withCode(context.Cause(g.x.ctx))
	default:
		err = exitcode.With(exitcode.Retry, withCode(err))
	}
	return g.end(g.peerError(s, step, err))
}

// waitError returns err with the place of what the group waits for.
func (g *Group) waitError(err error) error {
	s, step := g.waiting()
	return g.peerError(s, step, withCode(err))
}

// withCode gives err the exit code that its kind has. The cause of a context
// that ended keeps its own.
func withCode(err error) error {
	switch {
	case errors.Is(err, ErrCorruptFrame):
		return exitcode.With(exitcode.Protocol, err)
	case errors.Is(err, ErrTimeout), errors.Is(err, ErrGenerationEnded):
		return exitcode.With(exitcode.Retry, err)
	}
	return err
}

func (g *Group) peerError(s side, step int, err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.op.kind == 0:
		return err
	case s == nobody:
		return fmt.Errorf("ring: %v %d: %w", g.op.kind, g.op.seq, err)
	}
	w := g.neighbour(s)
	e := &PeerError{Seq: g.op.seq, Rank: w.Rank, Host: w.Host, Addr: w.Addr, Err: err}
	e.Op, e.Step = g.phase(step)
	return e
}
