package ring

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"ringtrain/ring/exitcode"
)

// An operation is the running operation of a group, which passes it down to its host and its
// wires. Begin and finish change it under Group.mu. The goroutines of the operation read it as it
// is, the others under Group.mu.
type operation struct {
	kind     opKind // 0: none is running
	seq      uint64
	ctx      context.Context
	elements int // of the buffer, if it must be equal on all ranks; else 0

	stall  stall         // of the whole host's progress; of the watchdog
	before uint64        // Group.ownMoved at the beginning
	wait   atomic.Uint64 // side and step that the operation's goroutine waits for; see waitFor
}

type opKind uint8

const (
	opAllReduce opKind = iota + 1
	opAllGather
	opBroadcast
	opBarrier
	opArena
	opRows
)

func (k opKind) String() string {
	names := [...]string{"", "all-reduce", "all-gather", "broadcast", "barrier", "arena", "rows"}
	if int(k) >= len(names) {
		return fmt.Sprintf("operation of kind %d", uint8(k)) // sent by another rank
	}
	return names[k]
}

// A side is the kind of worker that this rank waits for.
type side uint8

const (
	nobody  side = iota
	left         // receives from
	right        // sends to
	partner      // exchanges with, in a round of doubling
	inside       // the other workers of its host

	betweenHosts side = 1 << 3 // left, right or partner is a driver of the same shard on another host
)

// waitFor notes what the goroutine of the operation waits for from now on. Most calls repeat
// the last one, and a load costs less than an atomic store.
func (op *operation) waitFor(s side, step int) {
	if w := uint64(step)<<4 | uint64(s); op.wait.Load() != w {
		op.wait.Store(w)
	}
}

// waiting returns what waitFor noted last.
func (op *operation) waiting() (side, int) {
	w := op.wait.Load()
	return side(w & 15), int(w >> 4)
}

// begin admits an operation on a buffer of so many elements, 0 if ranks need not have the same.
// The operation returns the error of begin.
func (g *Group) begin(ctx context.Context, kind opKind, elements int) error {
	g.mu.Lock()
	op := &g.op
	if op.kind != 0 {
		g.mu.Unlock()
		if err := g.failed.later(); err != nil {
			return err
		}
		panic("ring: two operations at a time")
	}
	op.kind, op.seq, op.ctx, op.elements, op.before, op.stall = kind, g.seq, ctx, elements, g.ownMoved(), stall{}
	g.seq++
	g.mu.Unlock()
	if g.host != nil {
		g.host.step = 0
	}
	err := g.failed.later()
	for _, ctx := range [...]context.Context{g.ctx, ctx} {
		if err == nil && ctx.Err() != nil {
			err = g.end(g.peerError(nobody, 0, withCode(context.Cause(ctx)))) // op.wait is of the last operation
		}
	}
	if err != nil {
		g.over()
	}
	return err
}

// finish ends an operation that begin has admitted. If *err is not nil then finish ends the group
// and replaces *err by the first failure.
func (g *Group) finish(err *error) {
	if *err != nil {
		*err = g.fail(*err)
		for _, w := range g.wires {
			w.drain()
		}
	}
	g.over()
}

// over marks that no operation is running. What waitFor noted remains, without meaning until the
// next operation.
func (g *Group) over() {
	g.mu.Lock()
	g.op.kind, g.op.ctx = 0, nil
	g.mu.Unlock()
	g.idle.Signal()
}

// phase names the part of the running operation that a step belongs to, and the step in it.
func (g *Group) phase(s side, step int) (string, int) {
	if s == inside {
		return g.op.kind.String(), step
	}
	w := g.wireOf(s)
	if w.kind.Load() == 0 { // between two collectives
		return g.op.kind.String(), step
	}
	return w.phase(s&^betweenHosts, step)
}

// neighbour returns the worker that a side stands for in a step, if it is known.
func (g *Group) neighbour(s side, step int) (Worker, bool) {
	if s == inside {
		return g.host.missing()
	}
	return g.wireOf(s).neighbour(s&^betweenHosts, step)
}

// wireOf returns the wire that a side is of.
func (g *Group) wireOf(s side) *wire {
	if s&betweenHosts != 0 {
		return g.host.across
	}
	return g.wire
}

// fail ends the group because the running operation failed with err, and returns the first
// failure. That may be another one: a link that the watchdog closed reports only that it is
// closed. If an exchange failed then the cause of a context that has ended takes precedence, since
// then all ranks close their links.
func (g *Group) fail(err error) error {
	switch e := err.(type) {
	case *fault:
		err = exitcode.With(exitcode.Retry, withCode(e.err))
		if g.op.ctx.Err() != nil {
			err = withCode(context.Cause(g.op.ctx))
		}
		if g.ctx.Err() != nil {
			err = withCode(context.Cause(g.ctx))
		}
		return g.end(g.peerError(e.at, e.step, err))
	case streamError:
		return g.failed.keep(e.error) // the links stay open: frames already sent still arrive
	}
	return g.end(err)
}

// waitError returns err with the worker that the group waits for.
func (g *Group) waitError(err error) error {
	s, step := g.op.waiting()
	return g.peerError(s, step, withCode(err))
}

// errorOf returns err as that of a worker that has sent or written something wrong.
func (op *operation) errorOf(w Worker, err error) *PeerError {
	return &PeerError{Op: op.kind.String(), Seq: op.seq, Rank: w.Rank, Host: w.Host, Addr: w.Addr, Err: withCode(err)}
}

// withCode adds the exit code of its kind to err. The cause of a context that has ended keeps
// its own code.
func withCode(err error) error {
	switch {
	case errors.Is(err, ErrCorruptFrame):
		return exitcode.With(exitcode.Protocol, err)
	case errors.Is(err, ErrTimeout), errors.Is(err, ErrGenerationEnded), errors.Is(err, ErrChangedBytes):
		return exitcode.With(exitcode.Retry, err)
	}
	return err
}

// peerError returns err with the running operation and with the neighbour at side s, if there is one.
func (g *Group) peerError(s side, step int, err error) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if a, told := errors.AsType[*Abort](err); told {
		return g.abortError(a, s, step)
	}
	w, ok := g.neighbour(s, step)
	switch {
	case g.op.kind == 0:
		return err
	case !ok:
		return fmt.Errorf("ring: %v %d: %w", g.op.kind, g.op.seq, err)
	}
	e := &PeerError{Seq: g.op.seq, Rank: w.Rank, Host: w.Host, Addr: w.Addr, Err: err}
	e.Op, e.Step = g.phase(s, step)
	if s == inside {
		g.relayAbort(e)
	}
	return e
}

// relayAbort replaces the worker and the error of e by those of the abort that the blamed worker
// has left in memory. A worker that left because of another rank is not the cause of the end. The
// rest of the host has no link to the rank at fault and learns its number only here.
func (g *Group) relayAbort(e *PeerError) {
	a := g.host.abortOf(e.Rank)
	if a == nil || a.Rank == g.members.Self().Rank || isCauseOf(e.Err, g.ctx, g.op.ctx) {
		return
	}
	w := a.blamed(g.members)
	e.Rank, e.Host, e.Addr, e.Err = w.Rank, w.Host, w.Addr, a.exchangeError()
}

// abortError returns the error of a neighbour's abort, whatever this worker waits for. g.mu is
// held.
func (g *Group) abortError(a *Abort, s side, step int) error {
	w := a.blamed(g.members)
	e := &PeerError{Op: "idle", Seq: g.seq, Rank: w.Rank, Host: w.Host, Addr: w.Addr, Err: a.exchangeError()}
	if g.op.kind == 0 {
		return fmt.Errorf("%w: %w", ErrGenerationEnded, e)
	}
	e.Seq = g.op.seq
	e.Op, e.Step = g.phase(s, step)
	return e
}
