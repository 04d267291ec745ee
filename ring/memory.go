package ring

import (
	"context"
	"unsafe"
)

// Memory is what the workers of one host share. All of them call Arena, Sync and Exchange in the
// same order. One goroutine at a time calls these three; the other methods may be called at any
// time.
//
// Once a worker has called Interrupt or Close, or has died, these three fail for the others, and
// Missing names that worker. A Sync that it called before still counts, so a worker may leave
// right after the last Sync.
type Memory interface {
	// Arena allocates n zeros for each worker of the host and returns all of them, by local
	// rank. Workers read and write their own and the others' memory in place. Each part begins
	// at the start of a cache line. Arena is a barrier. The memory is valid until Close.
	Arena(ctx context.Context, n int) ([][]float32, error)

	// Sync is a barrier: it returns once all workers of the host have called it as often. The
	// others then see what a worker wrote before its Sync. Sync allocates nothing. Its error is
	// ErrClosed after Interrupt. Any other error describes the end of the worker that Missing
	// names.
	//
	// Sync need not watch ctx while it blocks: Interrupt follows the end of ctx.
	Sync(ctx context.Context) error

	// Exchange is a Sync that also fills all, by local rank, with what each worker of the host
	// gave as mine. The others read a worker's payload on the cache line by which they learn
	// that it has come. That spares each of them a second line that lies in another core's
	// cache.
	Exchange(ctx context.Context, mine *BarrierPayload, all []BarrierPayload) error

	// Missing returns the local rank of a worker that the running Sync or Arena waits for, or
	// whose end made the last one fail; -1 if there is none.
	Missing() int

	// Interrupt ends a blocked Sync or Arena, and all later ones. It may be called more than
	// once.
	Interrupt()

	// Cores returns how many cores the workers of the host may use together, 0 if it is unknown.
	Cores() int

	// Close interrupts and then releases the memory, which nobody may use any more. It may be
	// called more than once.
	Close() error
}

// Cores returns how many cores the workers of this host may use together. It returns 0 if that is
// unknown, or without shared memory.
func (g *Group) Cores() int {
	if g.host == nil {
		return 0
	}
	return g.host.memory.Cores()
}

// A BarrierPayload is what a worker gives to the others of its host in an agreement: the terms
// of the operation and, of a buffer of at most payloadElements, the elements. A memory treats
// it as bytes.
type BarrierPayload struct {
	terms terms
	data  [payloadElements]float32
}

const (
	// BarrierPayloadBytes is the length of a BarrierPayload. With a count it fills a cache
	// line.
	BarrierPayloadBytes = 56

	payloadElements = 4
)

var _ [BarrierPayloadBytes]struct{} = [unsafe.Sizeof(BarrierPayload{})]struct{}{}

// Whole reports whether the payload is all that the worker has for the others.
func (p *BarrierPayload) Whole() bool {
	t := &p.terms
	return (t.kind == opAllReduce || t.kind == opBarrier) && t.length <= payloadElements && t.tails == 0
}
