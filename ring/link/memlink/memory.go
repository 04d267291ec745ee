package memlink

import (
	"context"
	"errors"
	"slices"
	"sync"
	"unsafe"

	"ringtrain/ring"
)

// errLeft is the error of a worker that waits for one that has closed its memory.
var errLeft = errors.New("memlink: worker has closed its memory")

// Memory returns the shared memory of p workers of one process, by local rank. It has plain
// slices and a barrier at which a waiting worker is durably blocked.
func Memory(p int) []ring.Memory {
	if p < 1 {
		panic("memlink: no ranks")
	}
	s := &sharedState{syncs: make([]uint64, p), left: make([]bool, p), arenas: make([]int, p)}
	s.changed.L = &s.mu
	for i := range s.payloads {
		s.payloads[i] = make([]ring.BarrierPayload, p)
	}
	all := make([]ring.Memory, p)
	for r := range all {
		all[r] = &memory{sharedState: s, rank: r}
	}
	return all
}

// sharedState is the state that all workers share.
type sharedState struct {
	mu      sync.Mutex
	changed sync.Cond
	syncs   []uint64      // calls of Sync, by worker
	left    []bool        // by worker
	arenas  []int         // calls of Arena, by worker
	parts   [][][]float32 // by number of the arena, by worker

	payloads [2][]ring.BarrierPayload // of even and of odd Syncs, by worker
}

// memory is one worker's ring.Memory.
type memory struct {
	*sharedState
	rank    int
	waiting bool // a Sync is in progress or has failed
}

// Arena makes this worker's part and waits until the others have made theirs.
func (m *memory) Arena(ctx context.Context, n int) ([][]float32, error) {
	m.mu.Lock()
	k := m.arenas[m.rank]
	m.arenas[m.rank]++
	if k == len(m.parts) {
		m.parts = append(m.parts, make([][]float32, len(m.syncs)))
	}
	m.parts[k][m.rank] = aligned(n)
	m.mu.Unlock()
	if err := m.Sync(ctx); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.parts[k]), nil
}

// aligned returns n zeros that start at a cache line.
func aligned(n int) []float32 {
	const line = 64
	a := make([]float32, n+line/4)
	at := int(-uintptr(unsafe.Pointer(unsafe.SliceData(a)))%line) / 4
	return a[at : at+n : at+n]
}

// Sync blocks until all workers have called it equally often.
func (m *memory) Sync(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.sync()
}

// Exchange is Sync with payloads. Nobody writes to those of a Sync before all have called the
// next one.
func (m *memory) Exchange(_ context.Context, mine *ring.BarrierPayload, all []ring.BarrierPayload) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	meeting := m.payloads[(m.syncs[m.rank]+1)%2]
	meeting[m.rank] = *mine
	err := m.sync()
	if err == nil {
		copy(all, meeting)
	}
	return err
}

// sync is Sync with m.mu held.
func (m *memory) sync() error {
	if m.left[m.rank] {
		return ring.ErrClosed
	}
	m.syncs[m.rank]++
	m.waiting = true
	if m.behind() < 0 {
		m.changed.Broadcast()
	}
	for {
		late := m.behind()
		switch {
		case late < 0:
			m.waiting = false
			return nil
		case m.left[m.rank]:
			return ring.ErrClosed
		case m.gone() >= 0:
			return errLeft
		}
		m.changed.Wait()
	}
}

// behind returns a worker that has called Sync less often than this one, or -1.
func (m *memory) behind() int {
	return slices.IndexFunc(m.syncs, func(n uint64) bool { return n < m.syncs[m.rank] })
}

// gone returns a worker that has left and will never call Sync as often as this one, or -1.
func (m *memory) gone() int {
	for r, n := range m.syncs {
		if n < m.syncs[m.rank] && m.left[r] {
			return r
		}
	}
	return -1
}

// Missing returns a worker that has left, before one that is late.
func (m *memory) Missing() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch gone := m.gone(); {
	case !m.waiting:
		return -1
	case gone >= 0:
		return gone
	default:
		return m.behind()
	}
}

// Interrupt makes this worker leave.
func (m *memory) Interrupt() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left[m.rank] = true
	m.changed.Broadcast()
}

// Cores returns 0: the workers of a process share all of its cores.
func (m *memory) Cores() int { return 0 }

// Close makes this worker leave. The garbage collector frees the memory.
func (m *memory) Close() error {
	m.Interrupt()
	return nil
}
