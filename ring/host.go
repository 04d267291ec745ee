package ring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/awake"
)

// A host is the workers that share the memory of this one, and their way to the other hosts.
// Only the running operation calls its methods, unless a method says otherwise.
type host struct {
	members Membership // of the group
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
	passed     atomic.Uint64    // Syncs and agreements of this worker, but for the last of each operation

	leaving sync.Once
}

// newHost prepares the operations of m in t.Memory and waits for the other workers of the host.
func newHost(ctx context.Context, m Membership, t Transport, c Config, spareCore bool) (*host, error) {
	hosts := m.HostRanks()
	h := &host{members: m, memory: t.Memory, hosts: hosts}
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
	if err := h.open(ctx, c.OpTimeout); err != nil {
		return nil, err
	}
	if len(hosts) > 1 {
		h.drivers = fewest(hosts)
	}
	h.openAcross(t.Across, c, spareCore)
	return h, nil
}

// open allocates the boards.
func (h *host) open(ctx context.Context, timeout time.Duration) error {
	parts, err := h.gather(ctx, timeout)
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
func (h *host) gather(ctx context.Context, timeout time.Duration) ([][]float32, error) {
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
	parts, err := h.memory.Arena(ctx, boardElements(h.members.Size()))
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
func (h *host) openAcross(t *Transport, c Config, spareCore bool) {
	drivers, driver := h.members.Across()
	if driver != (t != nil) {
		panic("ring: links across are not those of this rank")
	}
	if !driver {
		return
	}
	if t.Ring == nil {
		panic("ring: no link across")
	}
	h.across = newWire(drivers, *t, c, spareCore)
	h.across.between, h.across.tail = betweenHosts, largest(h.hosts)*TailBytes
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
	t := g.op.terms()
	t.root = uint32(root)
	return g.host.agree(&g.op, t)
}

// agree gives t to the other workers of the host, waits for theirs, and fails if they differ. It is a barrier: afterwards the others see what a worker wrote to its exchange buffer
// before.
func (h *host) agree(op *operation, t terms) error {
	h.payload.terms = t
	h.beforeSync(op)
	if err := h.afterSync(h.memory.Exchange(op.ctx, &h.payload, h.payloads)); err != nil {
		return err
	}
	h.agreements++
	for r := range h.payloads {
		if theirs := &h.payloads[r].terms; *theirs != t {
			return h.blame(op, r, t.difference(theirs, h.members.Self().Rank, fmt.Sprintf("rank %d", h.workers[r].Rank)))
		}
	}
	return nil
}

// blame returns the error of a worker of this host that has written something wrong.
func (h *host) blame(op *operation, local int, err error) error {
	e := op.errorOf(h.workers[local], err)
	e.Step = h.step - 1
	return e
}

// sync is a barrier of the workers of the host.
func (h *host) sync(op *operation) error {
	h.beforeSync(op)
	return h.afterSync(h.memory.Sync(op.ctx))
}

// beforeSync notes that this worker waits for the others, and counts the Sync before as
// progress. The first Sync of an operation has none before it.
func (h *host) beforeSync(op *operation) {
	if h.step > 0 {
		h.passed.Add(1)
	}
	op.waitFor(inside, h.step)
}

// afterSync takes the error of a Sync. After a success the state of beforeSync may stay:
// Missing then names nobody.
func (h *host) afterSync(err error) error {
	if err != nil {
		return &fault{inside, h.step, err}
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

// abortOf returns the abort that a rank of this host has left, or nil. It may be called at any
// time.
func (h *host) abortOf(rank int) *Abort {
	local := slices.IndexFunc(h.workers, func(w Worker) bool { return w.Rank == rank })
	return h.boards[local].abort()
}

// moved notes the progress of this worker and returns that of all workers of this host as far as
// their watchdogs have noted it. The watchdog calls it.
func (h *host) moved(own uint64) (all uint64) {
	h.boards[h.local].beat.Store(own)
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
func (privateMemory) Exchange(_ context.Context, mine *BarrierPayload, all []BarrierPayload) error {
	all[0] = *mine
	return nil
}
func (privateMemory) Sync(context.Context) error { return nil }
func (privateMemory) Missing() int               { return -1 }
func (privateMemory) Interrupt()                 {}
func (privateMemory) Cores() int                 { return 0 }
func (privateMemory) Close() error               { return nil }
