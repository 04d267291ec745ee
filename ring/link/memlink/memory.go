package memlink

import (
	"context"
	"errors"
	"slices"
	"sync"
	"unsafe"

	"ringtrain/ring"
)

// errLeft is what a worker gets that waits for one which has closed its memory.
var errLeft = errors.New("memlink: worker has closed its memory")

// Memory returns what p workers of one process share, by local rank: plain
// slices, and a barrier at which whoever waits is durably blocked.
func Memory(p int) []ring.Memory {
	if p < 1 {
		panic("memlink: no ranks")
	}
	h := &hall{syncs: make([]uint64, p), left: make([]bool, p), arenas: make([]int, p)}
	h.moved.L = &h.mu
	all := make([]ring.Memory, p)
	for r := range all {
		all[r] = &memory{hall: h, rank: r}
	}
	return all
}

// A hall is what the workers have in common.
type hall struct {
	mu     sync.Mutex
	moved  sync.Cond
	syncs  []uint64      // calls of Sync, by worker
	left   []bool        // by worker
	arenas []int         // calls of Arena, by worker
	parts  [][][]float32 // by number of the arena, by worker
}

// memory is one worker's end of a hall.
type memory struct {
	*hall
	rank  int
	waits bool // in Sync, or a Sync has failed
}

// Arena makes this worker's part, and waits until the others have made theirs.
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

// aligned returns n zeros that begin at the start of a cache line.
func aligned(n int) []float32 {
	const line = 64
	a := make([]float32, n+line/4)
	at := int(-uintptr(unsafe.Pointer(unsafe.SliceData(a)))%line) / 4
	return a[at : at+n : at+n]
}

// Sync blocks until all have called it as often.
func (m *memory) Sync(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left[m.rank] {
		return ring.ErrClosed
	}
	m.syncs[m.rank]++
	m.waits = true
	if m.behind() < 0 {
		m.moved.Broadcast()
	}
	for {
		late := m.behind()
		switch {
		case late < 0:
			m.waits = false
			return nil
		case m.left[m.rank]:
			return ring.ErrClosed
		case m.gone() >= 0:
			return errLeft
		}
		m.moved.Wait()
	}
}

// behind returns a worker that has not called Sync as often as this one, or -1.
func (m *memory) behind() int {
	return slices.IndexFunc(m.syncs, func(n uint64) bool { return n < m.syncs[m.rank] })
}

// gone returns a worker that will never call Sync as often, or -1.
func (m *memory) gone() int {
	for r, n := range m.syncs {
		if n < m.syncs[m.rank] && m.left[r] {
			return r
		}
	}
	return -1
}

// Missing names first whoever has left.
func (m *memory) Missing() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch gone := m.gone(); {
	case !m.waits:
		return -1
	case gone >= 0:
		return gone
	default:
		return m.behind()
	}
}

// Interrupt has this worker leave.
func (m *memory) Interrupt() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left[m.rank] = true
	m.moved.Broadcast()
}

// Close has this worker leave. The garbage collector takes the memory.
func (m *memory) Close() error {
	m.Interrupt()
	return nil
}
