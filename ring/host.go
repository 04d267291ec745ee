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

// A host is the workers that share the memory of this one, and their way to the other hosts.
// Only the running operation calls its methods, unless a method says otherwise.
type host struct {
	g       *Group
	memory  Memory
	workers []Worker // of this host, by local rank
	local   int      // this worker's local rank

	hosts     [][]int // ranks of all hosts
	hostIndex int     // of this host in hosts
	drivers   int     // on each host; 0: there is one host only
	across    *wire   // joins the drivers of this shard, on all hosts; nil: this worker is none
	packed    []byte  // tails as they travel between hosts; only the first driver has them

	boards []*board      // by local rank
	tails  []byte        // of all ranks, on the board of the first worker
	arenas [][][]float32 // by number and local rank
	parts  [][]float32   // the running buffer, by local rank
	shard  [][]float32   // the shard of a driver in parts

	payload    BarrierPayload   // of the next agreement
	payloads   []BarrierPayload // of the last one, by local rank
	agreements uint64           // so far
	step       int              // Syncs of the running operation so far

	leaving sync.Once
}

// newHost prepares g for operations in t.Memory and waits for the other workers of the host.
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

// open allocates the boards.
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

// gather waits for all workers of the host and returns the memory of their boards.
//
// The first worker to time out leaves, and the others then miss that worker. So each worker
// notes shortly before its timeout which worker it misses, and blames that one.
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

// openAcross opens the wire of a driver.
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

// overLinks reports whether operations other than all-reduce go around the ring.
func (g *Group) overLinks() bool { return g.host == nil || g.host.drivers > 0 }

// agree makes the workers that share memory agree on the running operation. root is 0 if the
// operation has none. A worker without shared memory has nothing to agree on.
func (g *Group) agree(root int) error {
	if g.host == nil {
		return nil
	}
	t := g.terms()
	t.root = uint32(root)
	return g.host.agree(t)
}

// agree gives t to the other workers of the host, waits for theirs, and ends the group if they
// differ. It is a barrier: afterwards the others see what a worker wrote to its exchange buffer
// before.
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

// blame ends the group because a worker of this host has written something wrong.
func (h *host) blame(local int, err error) error {
	w, op := h.workers[local], &h.g.op
	return h.g.end(&PeerError{Op: op.kind.String(), Seq: op.seq, Step: h.step - 1, Rank: w.Rank, Host: w.Host, Addr: w.Addr, Err: withCode(err)})
}

// sync is a barrier of the workers of the host.
func (h *host) sync() error {
	h.beforeSync()
	return h.afterSync(h.memory.Sync(h.g.op.ctx))
}

// beforeSync notes that this worker waits for the others, and counts the Sync before as
// progress. The first Sync of an operation has none before it.
func (h *host) beforeSync() {
	if h.step > 0 {
		h.g.progress.Add(1)
	}
	h.g.waitFor(inside, h.step)
}

// afterSync takes the error of a Sync. After a success the state of beforeSync may stay:
// Missing then names nobody.
func (h *host) afterSync(err error) error {
	if err != nil {
		return h.g.fail(inside, h.step, err)
	}
	h.step++
	return nil
}

// missing returns the worker that the others of the host wait for, if any. It may be called at
// any time.
func (h *host) missing() (Worker, bool) {
	r := h.memory.Missing()
	if r < 0 || r >= len(h.workers) {
		return Worker{}, false
	}
	return h.workers[r], true
}

// relayAbort replaces the worker and the error of e by those of the abort that the blamed
// worker has left. A worker that left because of another rank is not the cause of the end. The
// rest of the host has no link to the rank at fault and learns its number only here.
func (h *host) relayAbort(e *PeerError) {
	local := slices.IndexFunc(h.workers, func(w Worker) bool { return w.Rank == e.Rank })
	a := h.boards[local].abort()
	if a == nil || a.Rank == h.g.members.Self().Rank || h.g.isContextEnd(e.Err, h.g.op) {
		return
	}
	w := h.g.blamed(a)
	e.Rank, e.Host, e.Addr, e.Err = w.Rank, w.Host, w.Addr, a.exchangeError()
}

// moved returns the progress of all workers of this host as far as their watchdogs have noted
// it. The watchdog calls it.
func (h *host) moved() (all uint64) {
	h.boards[h.local].beat.Store(h.g.ownMoved())
	for _, b := range h.boards {
		all += b.beat.Load()
	}
	return all
}

// leave makes this worker leave its host, after it has written why unless why is nil. It may be
// called at any time before the memory is closed.
func (h *host) leave(why *Abort) {
	if why != nil {
		h.leaving.Do(func() { h.boards[h.local].leave(why) })
	}
	h.memory.Interrupt()
}

// privateMemory is the memory of a worker that is alone on its host.
type privateMemory struct{}

func (privateMemory) Arena(_ context.Context, n int) ([][]float32, error) {
	return [][]float32{alignedFloats(n)}, nil
}
func (privateMemory) Sync(context.Context) error { return nil }
func (privateMemory) Missing() int               { return -1 }
func (privateMemory) Interrupt()                 {}
func (privateMemory) Close() error               { return nil }
