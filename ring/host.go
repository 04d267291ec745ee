package ring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/awake"
)

// A host is the workers that share this one's memory, and their way to the other
// hosts. Its methods are those of the running operation unless they say
// otherwise.
type host struct {
	g       *Group
	memory  Memory
	workers []Worker // of this host, by local rank
	local   int      // this worker's local rank

	hosts     [][]int // ranks of all hosts
	hostIndex int     // of this host in hosts
	drivers   int     // on each host; 0: there is one host only
	across    *wire   // joins the drivers of this shard, on all hosts; nil: this worker is none
	packed    []byte  // tails as they travel across: the first driver's

	boards []*board      // by local rank
	tails  []byte        // all ranks', on the first worker's board
	arenas [][][]float32 // given out so far, by number and local rank
	parts  [][]float32   // the running buffer, by local rank
	shard  [][]float32   // a driver's shard of it

	payload    BarrierPayload   // of the next agreement
	payloads   []BarrierPayload // of the last one, by local rank
	agreements uint64           // so far
	step       int              // Syncs of the running operation so far

	leaving sync.Once
}

// newHost prepares g for operations by way of t.Memory, and waits for the other
// workers of the host.
func newHost(ctx context.Context, g *Group, t Transport, spareCore bool) (*host, error) {
	m, hosts := g.members, g.members.HostRanks()
	h := &host{g: g, memory: t.Memory, hosts: hosts}
	for i, ranks := range hosts {
		if m.Workers[ranks[0]].HostID == m.Self().HostID {
			h.hostIndex = i
		}
	}
	h.local, _ = m.Local()
	for _, rank := range hosts[h.hostIndex] {
		h.workers = append(h.workers, m.Workers[rank])
	}
	if h.memory == nil {
		if len(h.workers) > 1 {
			panic("ring: no memory")
		}
		h.memory = privateMemory{}
	}
	if err := h.open(ctx); err != nil {
		return nil, err
	}
	if len(hosts) > 1 {
		h.drivers = fewest(hosts)
	}
	h.openAcross(t.Across, spareCore)
	return h, nil
}

// open makes the boards.
func (h *host) open(ctx context.Context) error {
	parts, err := h.gather(ctx)
	if err != nil {
		return err
	}
	if len(parts) != len(h.workers) {
		return fmt.Errorf("ring: memory is of %d workers, want %d: those of host %s", len(parts), len(h.workers), h.workers[h.local].Host)
	}
	h.payloads = make([]BarrierPayload, len(parts))
	h.parts, h.shard = make([][]float32, len(parts)), make([][]float32, len(parts))
	for r, part := range parts {
		b, tails := boardOf(part)
		if r == 0 {
			h.tails = tails
		}
		h.boards = append(h.boards, b)
	}
	return nil
}

// gather waits for all workers of the host, and returns the memory of their boards.
//
// Whoever's time is up first leaves, and is then missing itself. So a worker notes
// whom it waits for when little time is left, and blames that one.
func (h *host) gather(ctx context.Context) ([][]float32, error) {
	timeout := h.g.config.OpTimeout
	var late atomic.Pointer[Worker]
	note := awake.AfterFunc(timeout-timeout/10, func() {
		if w, ok := h.missing(); ok {
			late.Store(&w)
		}
	})
	defer note.Stop()
	over := awake.AfterFunc(timeout, h.memory.Interrupt)
	defer over.Stop()
	stop := context.AfterFunc(ctx, h.memory.Interrupt)
	defer stop()
	parts, err := h.memory.Arena(ctx, boardElements(h.g.members.Size()))
	if err == nil {
		return parts, nil
	}
	w, ok := h.missing()
	first := late.Load()
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case errors.Is(err, ErrClosed), ok && first != nil:
		err = fmt.Errorf("%w: not all have come for %v", ErrTimeout, timeout)
	}
	if ok && first != nil {
		w = *first
	}
	err = exitcode.With(exitcode.Retry, withCode(err))
	if ok {
		err = &PeerError{Op: "start", Rank: w.Rank, Host: w.Host, Addr: w.Addr, Err: err}
	}
	return nil, err
}

// openAcross makes the wire of a driver.
func (h *host) openAcross(t *Transport, spareCore bool) {
	drivers, driver := h.g.members.Across()
	if driver != (t != nil) {
		panic("ring: links across are not those of this rank")
	}
	if !driver {
		return
	}
	if t.Ring == nil {
		panic("ring: no link across")
	}
	h.across = newWire(h.g, drivers, *t, spareCore)
	h.across.between, h.across.tail = betweenHosts, largest(h.hosts)*TailBytes
	h.g.wires = append(h.g.wires, h.across)
	if h.local == 0 {
		h.packed = make([]byte, len(h.hosts)*h.across.tail)
	}
}

// overLinks tells whether operations other than all-reduce go around the ring.
func (g *Group) overLinks() bool { return g.host == nil || g.host.drivers > 0 }

// agree has the workers that share this one's memory, if any do, agree on the running
// operation. root is 0 if the operation has none.
func (g *Group) agree(root int) error {
	if g.host == nil {
		return nil
	}
	t := g.terms()
	t.root = uint32(root)
	return g.host.agree(t)
}

// agree tells the others what this worker is about to do, waits until they do the same, and
// checks that it is the same. From then on the others see what a worker has written to its
// exchange buffer before.
func (h *host) agree(t terms) error {
	h.payload.terms = t
	h.beforeSync()
	if x, ok := h.memory.(Exchanger); ok {
		if err := h.afterSync(x.Exchange(h.g.op.ctx, &h.payload, h.payloads)); err != nil {
			return err
		}
	} else {
		h.ownBuffer().payload = h.payload
		if err := h.afterSync(h.memory.Sync(h.g.op.ctx)); err != nil {
			return err
		}
		for r, b := range h.boards {
			h.payloads[r] = b.buffers[h.agreements&1].payload
		}
	}
	h.agreements++
	for r := range h.payloads {
		if theirs := &h.payloads[r].terms; *theirs != t {
			return h.blame(r, t.difference(theirs, h.g.members.Self().Rank, fmt.Sprintf("rank %d", h.workers[r].Rank)))
		}
	}
	return nil
}

// blame ends the group because of what a worker of this host has written.
func (h *host) blame(local int, err error) error {
	w, op := h.workers[local], &h.g.op
	return h.g.end(&PeerError{Op: op.kind.String(), Seq: op.seq, Step: h.step - 1, Rank: w.Rank, Host: w.Host, Addr: w.Addr, Err: withCode(err)})
}

// sync waits for all workers of the host.
func (h *host) sync() error {
	h.beforeSync()
	return h.afterSync(h.memory.Sync(h.g.op.ctx))
}

// enter says that this worker waits for the others, and that it has come past its
// Sync before. The first one of an operation has none: that the operation is a
// new one says enough.
func (h *host) beforeSync() {
	if h.step > 0 {
		h.g.progress.Add(1)
	}
	h.g.waitFor(inside, h.step)
}

// passed notes how a Sync ended. What enter said still stands if it was well: then
// nobody is missing.
func (h *host) afterSync(err error) error {
	if err != nil {
		return h.g.fail(inside, h.step, err)
	}
	h.step++
	return nil
}

// missing returns the worker that the others of the host wait for, if there is
// one. It may be called at any time.
func (h *host) missing() (Worker, bool) {
	r := h.memory.Missing()
	if r < 0 || r >= len(h.workers) {
		return Worker{}, false
	}
	return h.workers[r], true
}

// relayAbort has e, which blames a worker of this host, say why that one has ended. One
// that has left because of another rank is not why the job ends, and the root is
// named although the rest of the host has no link to it.
func (h *host) relayAbort(e *PeerError) {
	local := slices.IndexFunc(h.workers, func(w Worker) bool { return w.Rank == e.Rank })
	a := h.boards[local].abort()
	if a == nil || a.Rank == h.g.members.Self().Rank || h.g.isContextEnd(e.Err, h.g.op) {
		return
	}
	w := h.g.blamed(a)
	e.Rank, e.Host, e.Addr, e.Err = w.Rank, w.Host, w.Addr, a.exchangeError()
}

// moved counts what has moved on this host, so far as the watchdogs saw. It is
// called by this worker's watchdog.
func (h *host) moved() (all uint64) {
	h.boards[h.local].beat.Store(h.g.ownMoved())
	for _, b := range h.boards {
		all += b.beat.Load()
	}
	return all
}

// leave has this worker leave its host. Before that it says why, unless it ends in good
// order. It may be called at any time before close.
func (h *host) leave(why *Abort) {
	if why != nil {
		h.leaving.Do(func() { h.boards[h.local].leave(why) })
	}
	h.memory.Interrupt()
}

// privateMemory is the memory of a worker that has its host to itself.
type privateMemory struct{}

func (privateMemory) Arena(_ context.Context, n int) ([][]float32, error) {
	return [][]float32{alignedFloats(n)}, nil
}
func (privateMemory) Sync(context.Context) error { return nil }
func (privateMemory) Missing() int               { return -1 }
func (privateMemory) Interrupt()                 {}
func (privateMemory) Close() error               { return nil }
