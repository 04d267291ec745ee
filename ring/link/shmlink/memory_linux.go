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
	cores  atomic.Int64 // cores that the workers may use together; the leader sends it with each arena
	peers  []*peer      // on the leader the members, on a member the leader

	calls   sync.Mutex // held by Arena, Sync and Exchange
	barrier            // without an exchange buffer until Open is done
	views   [][]byte   // all mappings

	opened   chan struct{} // closed when Open is done
	quit     chan struct{} // closed by the first Interrupt
	readers  sync.WaitGroup
	syscalls sync.Mutex // held by one system call of the peers at a time
	mu       sync.Mutex // held by users of the exchange buffer that do not hold calls
}

func newMemory(m ring.Membership, c Config) *memory {
	mem := &memory{host: newHost(m), system: c.system.orKernel(), opened: make(chan struct{}), quit: make(chan struct{})}
	mem.barrier.init(mem.host.me)
	return mem
}

// Arena makes memory for all workers. Each worker has touched its own part.
func (m *memory) Arena(ctx context.Context, n int) ([][]float32, error) {
	if n < 0 {
		panic("shmlink: arena of negative length")
	}
	m.calls.Lock()
	defer m.calls.Unlock()
	p := m.host.size()
	if n > (math.MaxInt/p-os.Getpagesize())/4 {
		return nil, fmt.Errorf("%w: arena of %d elements for each of %d workers is too large", ErrUnavailable, n, p)
	}
	if err := m.wait(); err != nil {
		return nil, err
	}
	part := wholePages(max(4*n, 1))
	view, err := m.share(ctx, region{n, p * part, byteRange{m.me * part, (m.me + 1) * part}})
	if err != nil {
		if r, ok := errors.AsType[*shareError](err); ok {
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

// Sync waits at the barrier of the exchange buffer.
func (m *memory) Sync(context.Context) error {
	m.calls.Lock()
	defer m.calls.Unlock()
	return m.wait()
}

// Exchange is a Sync that also carries payloads.
func (m *memory) Exchange(_ context.Context, mine *ring.BarrierPayload, all []ring.BarrierPayload) error {
	m.calls.Lock()
	err := m.exchange(mine, all)
	m.calls.Unlock()
	return err
}

// exchange is Exchange with m.calls held.
func (m *memory) exchange(mine *ring.BarrierPayload, all []ring.BarrierPayload) error {
	if m.interrupted.Load() {
		return ring.ErrClosed // there may be no exchange buffer
	}
	m.entry(m.me, m.round+1).payload = *mine
	if err := m.wait(); err != nil {
		return err
	}
	for rank := range m.slots {
		all[rank] = m.entry(rank, m.round).payload
	}
	if mine.Whole() {
		m.prefetchEntry()
	}
	return nil
}

// prefetchEntry writes to this worker's entry of the next round. All workers have read its
// last value in the round before this one. The write returns its cache line from the readers'
// cores while this core does other work. It does not pay if the worker has other lines to
// read as well: they would wait for this one.
func (m *memory) prefetchEntry() { m.entry(m.me, m.round+1).payload = ring.BarrierPayload{} }

// wait is Sync with m.calls held.
func (m *memory) wait() error {
	switch {
	case m.interrupted.Load():
		return ring.ErrClosed
	case m.await():
		return nil
	case m.interrupted.Load():
		return ring.ErrClosed
	}
	return m.goneError(int(m.missing.Load()))
}

// Missing returns the local rank of a worker that has not arrived or has ended, or -1.
func (m *memory) Missing() int { return int(m.missing.Load()) }

// Interrupt makes this worker leave, which ends the waits of all workers.
func (m *memory) Interrupt() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.interrupted.Swap(true) {
		close(m.quit)
	}
	if m.bufferHeader != nil {
		m.markEnded(m.me, left)
	}
}

// peerEnded records that a worker's socket has ended, unless this worker closed it.
func (m *memory) peerEnded(rank int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.bufferHeader != nil && !m.interrupted.Load() {
		m.markEnded(rank, died)
	}
}

// goneError returns an error that says how a worker has ended.
func (m *memory) goneError(rank int) error {
	how := "it has gone"
	if m.bufferHeader != nil {
		how = "its process has ended"
		if m.slots[rank].state.Load() == uint32(left) {
			how = "it has left"
		}
	}
	return &shareError{lost, rank, fmt.Sprintf("%s: %s", m.host.name(rank), how)}
}

// Close leaves, closes the sockets and unmaps all memory.
func (m *memory) Close() error {
	m.Interrupt()
	m.calls.Lock()
	defer m.calls.Unlock()
	for _, p := range m.peers {
		p.close()
	}
	m.readers.Wait()
	m.mu.Lock()
	m.exchangeBuffer = exchangeBuffer{}
	m.mu.Unlock()
	var errs []error
	for _, v := range m.views {
		errs = append(errs, unmap(v))
	}
	m.views = nil
	return errors.Join(errs...)
}

// wholePages rounds bytes up to whole pages.
func wholePages(bytes int) int {
	unit := os.Getpagesize()
	return (bytes + unit - 1) / unit * unit
}
