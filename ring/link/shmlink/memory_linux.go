package shmlink

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"sync/atomic"
	"unsafe"

	"ringtrain/ring"
)

// memory is a ring.Memory among processes.
type memory struct {
	host   host
	system system
	cores  atomic.Int64 // that the workers may use together, told by the leader with each arena; read at any time
	peers  []*peer      // of the leader the members, of a member the leader

	busy    sync.Mutex // held by Arena and Sync
	barrier            // without a page until Open is done
	views   [][]byte   // all that is mapped

	opened  chan struct{} // closed when Open is done
	quit    chan struct{} // closed with the first Interrupt
	readers sync.WaitGroup
	turn    sync.Mutex // of the peers' calls
	mu      sync.Mutex // held by whoever has others look at the page, not being busy
}

func newMemory(m ring.Membership, c Config) *memory {
	mem := &memory{host: newHost(m), system: c.system.orKernel(), opened: make(chan struct{}), quit: make(chan struct{})}
	mem.barrier.init(mem.host.me)
	return mem
}

// Arena makes memory for all workers, of which each has touched its own part.
func (m *memory) Arena(ctx context.Context, n int) ([][]float32, error) {
	if n < 0 {
		panic("shmlink: arena of negative length")
	}
	m.busy.Lock()
	defer m.busy.Unlock()
	p := m.host.size()
	if n > (math.MaxInt/p-os.Getpagesize())/4 {
		return nil, fmt.Errorf("%w: arena of %d elements for each of %d workers is too large", ErrUnavailable, n, p)
	}
	if err := m.wait(); err != nil {
		return nil, err
	}
	part := wholePages(max(4*n, 1))
	view, err := m.share(ctx, room{n, p * part, span{m.me * part, (m.me + 1) * part}})
	if err != nil {
		if r, ok := errors.AsType[*refusal](err); ok {
			m.missing.Store(int32(r.rank))
		}
		return nil, err
	}
	m.missing.Store(-1)
	m.views = append(m.views, view)
	arenas := make([][]float32, p)
	for i := range arenas {
		arenas[i] = unsafe.Slice((*float32)(unsafe.Pointer(&view[i*part])), n)
	}
	return arenas, nil
}

// Sync waits at the barrier of the control page.
func (m *memory) Sync(context.Context) error {
	m.busy.Lock()
	defer m.busy.Unlock()
	return m.wait()
}

// Exchange is a Sync that carries slips.
func (m *memory) Exchange(_ context.Context, mine *ring.Slip, all []ring.Slip) error {
	m.busy.Lock()
	err := m.exchange(mine, all)
	m.busy.Unlock()
	return err
}

// exchange is Exchange for whoever is busy.
func (m *memory) exchange(mine *ring.Slip, all []ring.Slip) error {
	if m.over.Load() {
		return ring.ErrClosed // and there may be no page
	}
	m.post(m.me, m.round+1).slip = *mine
	if err := m.wait(); err != nil {
		return err
	}
	for rank := range m.places {
		all[rank] = m.post(rank, m.round).slip
	}
	if mine.Whole() {
		m.claim()
	}
	return nil
}

// claim writes to the post that comes next, which all have read, so that its cache line
// comes back from the cores that did while this one does other work. With other lines to
// read as well it does not pay: they would wait for this one.
func (m *memory) claim() { m.post(m.me, m.round+1).slip = ring.Slip{} }

// wait is Sync for whoever is busy.
func (m *memory) wait() error {
	switch {
	case m.over.Load():
		return ring.ErrClosed
	case m.await():
		return nil
	case m.over.Load():
		return ring.ErrClosed
	}
	return m.gone(int(m.missing.Load()))
}

// Missing returns the local rank of a worker that has not arrived, or has ended.
func (m *memory) Missing() int { return int(m.missing.Load()) }

// Interrupt has this worker leave.
func (m *memory) Interrupt() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.over.Swap(true) {
		close(m.quit)
	}
	if m.head != nil {
		m.end(m.me, left)
	}
}

// ended notes that a worker's socket has ended, unless this worker ended it.
func (m *memory) ended(rank int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.head != nil && !m.over.Load() {
		m.end(rank, died)
	}
}

// gone says what became of a worker that others wait for.
func (m *memory) gone(rank int) error {
	how := "it has gone"
	if m.head != nil {
		how = "its process has ended"
		if m.places[rank].fate.Load() == uint32(left) {
			how = "it has left"
		}
	}
	return &refusal{lost, rank, fmt.Sprintf("%s: %s", m.host.name(rank), how)}
}

// Close leaves, ends the sockets and unmaps everything.
func (m *memory) Close() error {
	m.Interrupt()
	m.busy.Lock()
	defer m.busy.Unlock()
	for _, p := range m.peers {
		p.close()
	}
	m.readers.Wait()
	m.mu.Lock()
	m.page = page{}
	m.mu.Unlock()
	var errs []error
	for _, v := range m.views {
		errs = append(errs, unmap(v))
	}
	m.views = nil
	return errors.Join(errs...)
}

// wholePages rounds up.
func wholePages(bytes int) int {
	unit := os.Getpagesize()
	return (bytes + unit - 1) / unit * unit
}
