package ring

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"time"

	"ringtrain/ring/codec"
	"ringtrain/ring/cores"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/awake"
	"ringtrain/ring/order"
)

// Config tunes a Group. All ranks of a job must have the same.
type Config struct {
	SegmentElements int              // float32 elements of a frame, a multiple of 256
	OpTimeout       time.Duration    // no progress for this long: ErrTimeout
	Lossless        codec.Compressor // around every codec's bytes; nil: none
	Algorithm       Algorithm        // of all-reduce over links
}

// maxSegmentElements keeps the longest frame of any codec, tail included, within
// MaxPayloadBytes.
const maxSegmentElements = 1 << 21

// DefaultConfig returns segments of 512 KiB, a timeout of five minutes and algorithms by size.
func DefaultConfig() Config {
	return Config{SegmentElements: 1 << 17, OpTimeout: 5 * time.Minute, Algorithm: ByAuto}
}

func (c Config) check() error {
	var errs []error
	if n := c.SegmentElements; n < 256 || n > maxSegmentElements || n%256 != 0 {
		errs = append(errs, fmt.Errorf("segment is %d elements, want a multiple of 256 up to %d", n, maxSegmentElements))
	}
	if c.OpTimeout <= 0 {
		errs = append(errs, fmt.Errorf("timeout of an operation is %v, want more than 0", c.OpTimeout))
	}
	return exitcode.With(exitcode.Usage, errors.Join(errs...))
}

// frameBytes returns the longest payload of an operation without a codec.
func (c Config) frameBytes() int { return 4 * c.SegmentElements }

// A Group is the set of workers of one generation, seen from one of them, and their collective
// operations.
//
// One goroutine at a time calls operations. All ranks call the same operations in the same
// order. SentBytes, Waiting and Close may be called at any time.
type Group struct {
	members Membership
	config  Config
	ctx     context.Context // of the generation

	wire  *wire   // collectives over links among all workers
	host  *host   // the workers that share memory, and their way to the other hosts; nil: all data goes over links
	wires []*wire // wire, and host.across if this worker is a driver

	mu    sync.Mutex
	op    operation   // the running one
	idle  sync.Cond   // over mu: op has ended
	clock awake.Clock // of the watchdog; guarded by mu
	seq   uint64      // of the next operation; guarded by mu

	failed   failure
	aborts   chan *Abort // has room for one: that of a neighbour
	stop     chan struct{}
	running  sync.WaitGroup // senders and watchdog
	closing  sync.Once
	closeErr error

	beforeClose func(failure error) error // may be nil
	afterClose  func() error              // may be nil
}

// New returns the group of m over t. The group closes t; New closes t if it fails. The end of
// ctx ends the group with the cause of ctx. New raises GOMAXPROCS to what the links need, see
// Link.Threads.
//
// On two levels New waits for all workers of the host, for at most Config.OpTimeout. A
// *PeerError names a worker that has not come.
func New(ctx context.Context, m Membership, t Transport, c Config) (*Group, error) {
	g, err := newGroup(ctx, m, t, c)
	if err != nil {
		_ = t.close() // the first error counts
		return nil, err
	}
	return g, nil
}

// newGroup is New, but leaves t open if it fails.
func newGroup(ctx context.Context, m Membership, t Transport, c Config) (*Group, error) {
	if m.Rank < 0 || m.Rank >= m.Size() {
		return nil, fmt.Errorf("ring: rank is %d, want 0 to %d", m.Rank, m.Size()-1)
	}
	if m.Order.Workers != nil {
		if err := order.Check(m.Order.Workers, m.Size()); err != nil {
			return nil, fmt.Errorf("ring: order is %s: %w", order.Format(m.Order.Workers), err)
		}
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("ring: %w", err)
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return nil, errors.New("ring: this machine is big-endian, want a little-endian one: gradients travel as they lie in memory")
	}
	shared := t.Memory != nil || t.Across != nil
	if t.Ring == nil && m.Size() > 1 && !(shared && m.Hosts() == 1) {
		panic("ring: no link")
	}
	g := &Group{members: m, config: c, ctx: ctx, aborts: make(chan *Abort, 1), stop: make(chan struct{})}
	g.idle.L = &g.mu
	_, local := m.Local()
	spareCore := cores.PerWorker(local, 0) > 1 // also for the wire between hosts: the host's other workers use the same cores
	g.wire = newWire(m, t, c, spareCore)
	g.wires = []*wire{g.wire}
	if shared {
		h, err := newHost(ctx, m, t, c, spareCore)
		if err != nil {
			return nil, err
		}
		g.host = h
		if h.across != nil {
			g.wires = append(g.wires, h.across)
		}
	}
	if m.Size() > 1 {
		g.start(t)
	}
	return g, nil
}

// start starts the group's goroutines.
func (g *Group) start(t Transport) {
	needThreads(t)
	if t.Across != nil {
		needThreads(*t.Across)
	}
	for _, w := range g.wires {
		for _, link := range w.links() {
			if link != nil {
				link.Notify(w.sendPending, g.receiveAbort)
			}
		}
		if w.ring.link != nil {
			g.running.Go(func() { g.send(w) })
		}
	}
	g.running.Go(g.watch)
}

// send is the sender of w: the goroutine that sends what w announces.
func (g *Group) send(w *wire) {
	for {
		select {
		case <-w.work:
			err := w.sendAll()
			if err != nil {
				err = g.fail(err)
			}
			w.queue.stop()
			w.done <- err
		case <-g.stop:
			return
		}
	}
}

// Membership returns the workers of the group.
func (g *Group) Membership() Membership { return g.members }

// Levels returns how data moves: "flat", all of it over links; "host", all of it in the memory
// of the one host; or "two", in memory within each host and over links between hosts.
func (g *Group) Levels() string {
	switch {
	case g.host == nil:
		return "flat"
	case g.host.drivers == 0:
		return "host"
	default:
		return "two"
	}
}

// Compresses reports whether the group has a wire for a codec. In the memory of a host, and at
// world size 1, gradients stay float32.
func (g *Group) Compresses() bool { return g.members.Size() > 1 && g.overLinks() }

// SentBytes returns how many bytes this rank has sent over its links, headers included, and how
// many of these left the host.
func (g *Group) SentBytes() (total, betweenHosts int64) {
	for _, w := range g.wires {
		total += w.sent.Load()
		betweenHosts += w.sentOffHost.Load()
	}
	return total, betweenHosts
}

// KeyBytes returns how many bytes of data frames, headers included, this rank has sent under one
// key: the most of all its links, 0 if none is encrypted. The number depends on the operations
// alone. AES-GCM is safe for some 360 GiB; before that the workers should form another group, whose
// links have new keys. KeyBytes must not be called beside an operation.
func (g *Group) KeyBytes() int64 {
	var most int64
	for _, w := range g.wires {
		most = max(most, w.ring.keyBytes)
		for k := range w.rounds.peers {
			most = max(most, w.rounds.peers[k].keyBytes)
		}
	}
	return most
}

// Close ends the group and closes its links and its memory, so its arenas become invalid. A
// running operation fails, and Close waits for its end. Close may be called more than once.
//
// The Close of a group that join.Join has made also ends the worker's part in the job. It waits
// for the other workers, unless an operation has failed: then it reports the failure and returns.
func (g *Group) Close() error {
	g.closing.Do(func() {
		var errs []error
		g.mu.Lock()
		runs := g.op.kind != 0
		g.mu.Unlock()
		if g.beforeClose != nil && !runs {
			errs = append(errs, g.beforeClose(g.failed.first()))
		}
		g.end(ErrClosed)
		g.mu.Lock()
		for g.op.kind != 0 {
			g.idle.Wait()
		}
		g.mu.Unlock()
		close(g.stop)
		g.running.Wait()
		if g.host != nil {
			errs = append(errs, g.host.memory.Close())
		}
		if g.afterClose != nil {
			errs = append(errs, g.afterClose())
		}
		g.closeErr = errors.Join(append(errs, g.closeErr)...)
	})
	return g.closeErr
}

// OnClose has Close call before while the links are still open, and after when all is
// closed. before receives the error that has ended the group, nil if the group is well. Close
// does not call before if an operation is running. Package join ends a worker's session with
// the rendezvous in this way. OnClose must be called once, before any other goroutine has g.
func (g *Group) OnClose(before func(failure error) error, after func() error) {
	g.beforeClose, g.afterClose = before, after
}

// end keeps why as the reason for the end unless the group has ended before, and closes the
// links, which unblocks their users. It returns the first reason.
func (g *Group) end(why error) error {
	first := g.failed.keep(why)
	g.leave(g.abort(first))
	return first
}

// leave makes this worker leave its host and closes its links. The other workers get why,
// unless why is nil.
func (g *Group) leave(why *Abort) {
	if g.host != nil {
		g.host.leave(why)
	}
	if err := closeLinks(g.wires, why); err != nil {
		g.mu.Lock()
		g.closeErr = err
		g.mu.Unlock()
	}
}
