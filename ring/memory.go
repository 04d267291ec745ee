package ring

import (
	"context"
	"unsafe"
)

// Memory is what the workers of one host share. All of them call Arena and Sync
// in the same order. Arena and Sync are called by one goroutine at a time, the
// other methods at any time.
//
// Once a worker has called Interrupt or Close, or has died, the others' Sync and
// Arena fail and Missing names it; but a Sync that it called still counts, so
// that a worker may leave right after the last one.
type Memory interface {
	// Arena makes n zeros for each worker of the host and returns all of them,
	// by local rank: own and others' memory alike is read and written in place.
	// Each begins at the start of a cache line. It is a barrier. The memory is
	// valid until Close.
	Arena(ctx context.Context, n int) ([][]float32, error)

	// Sync is a barrier: it returns once all workers of the host have called it
	// as often. What a worker wrote before it, the others see after it. It
	// allocates nothing. Its error is ErrClosed after Interrupt, and otherwise
	// tells what became of the worker that Missing names.
	//
	// It need not watch ctx while it blocks: whoever ends ctx calls Interrupt.
	Sync(ctx context.Context) error

	// Missing returns the local rank of a worker that the running Sync or Arena
	// waits for, or whose end made the last one fail; -1 if there is none.
	Missing() int

	// Interrupt ends a Sync or Arena that blocks, and all later ones. It may be
	// called more than once.
	Interrupt()

	// Close does what Interrupt does and gives the memory back. Nobody may be
	// using it. It may be called more than once.
	Close() error
}

// Cores returns how many cores the workers of this host may use together; 0: the
// memory that they share does not tell, as with Cores() int it may, or they share
// none.
func (g *Group) Cores() int {
	if g.host == nil {
		return 0
	}
	m, ok := g.host.memory.(interface{ Cores() int })
	if !ok {
		return 0
	}
	return m.Cores()
}

// An Exchanger is a Memory whose barrier carries payloads. The others read a worker's payload
// on the cache line by which they learn that it has come. That spares each of them a second
// line that lies in another core's cache.
type Exchanger interface {
	Memory

	// Exchange is a Sync after which all, by local rank, has what each worker of
	// the host gave as mine.
	Exchange(ctx context.Context, mine *BarrierPayload, all []BarrierPayload) error
}

// A BarrierPayload is what a worker tells the others of its host at an agreement: the terms of
// the operation and, of a buffer of at most payloadElements, the elements. A memory takes it for
// bytes.
type BarrierPayload struct {
	terms terms
	data  [payloadElements]float32
}

const (
	// BarrierPayloadBytes is the length of a BarrierPayload: with a count it fills a cache line.
	BarrierPayloadBytes = 56

	payloadElements = 4
)

var _ [BarrierPayloadBytes]struct{} = [unsafe.Sizeof(BarrierPayload{})]struct{}{}

// Whole reports whether the payload is all that the worker has for the others.
func (p *BarrierPayload) Whole() bool {
	t := &p.terms
	return (t.kind == opAllReduce || t.kind == opBarrier) && t.length <= payloadElements && t.tails == 0
}
