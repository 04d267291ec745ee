package ring

import (
	"context"
	"sync/atomic"
	"unsafe"

	"ringtrain/ring/internal/vec"
)

const (
	// smallElements bounds the buffers that every worker of a host sums for itself, with one
	// Sync instead of two.
	smallElements = 2048

	// exchangeElements is the length of an exchange buffer. Larger buffers that lie in no
	// arena, and bytes to gather or broadcast, go through it in pieces.
	exchangeElements = 1 << 16

	exchangeBytes = 4 * exchangeElements
)

// board is a worker's part of the memory through which the workers of a host run their
// operations; PROTOCOL.md has its picture. Each worker writes its own board, and the others
// read it after the next Sync.
//
// The two exchange buffers take turns. Before a worker writes a buffer again it has passed the
// Sync of the other buffer, and all workers had read the first one before they called it.
type board struct {
	buffers [2]exchangeBuffer

	// beat counts the progress of this worker's operations, as its watchdog saw it. The
	// others therefore do not time out while any worker of the host makes progress.
	beat atomic.Uint64

	// aborted is 0 until this worker's group ends. It then has the length of why and
	// provisionalBit. why is the payload of the Abort.
	aborted atomic.Uint32
	_       [arenaAlign - 12]byte
	why     [9 * arenaAlign]byte

	// sum and the tails of all ranks, which lie behind the board, are used on the first
	// worker's board only. That worker fills them in between two Syncs.
	sum [smallElements]float32
}

// exchangeBuffer is what a worker gives to the others at one Sync.
type exchangeBuffer struct {
	length uint64 // bytes that this worker has for the others
	_      [arenaAlign - 8]byte
	data   [exchangeElements]float32
	tail   [TailBytes]byte
}

// provisionalBit is the bit of board.aborted for Abort.provisional.
const provisionalBit = 1 << 31

// leave publishes why this worker's group has ended. It is called at most once.
func (b *board) leave(a *Abort) {
	n := uint32(len(a.appendPayload(b.why[:0])))
	if a.provisional {
		n |= provisionalBit
	}
	b.aborted.Store(n)
}

// abort returns why the group of the board's worker has ended. It returns nil if the group has
// not ended, or ended without a reason.
func (b *board) abort() *Abort {
	n := b.aborted.Load()
	payload := b.why[:min(n&^provisionalBit, uint32(len(b.why)))]
	a, err := parseAbort(payload)
	if err != nil {
		return nil
	}
	a.provisional = n&provisionalBit != 0
	return a
}

// arenaAlign is the bytes of a cache line.
const arenaAlign = 64

// Each part of a board begins at the start of a cache line.
var _ [0]struct{} = [unsafe.Sizeof(exchangeBuffer{}) % arenaAlign]struct{}{}

// boardElements returns the length of a board with the tails of size ranks, in float32.
func boardElements(size int) int {
	return int(unsafe.Sizeof(board{}))/4 + size*TailBytes/4
}

// boardOf views memory of boardElements as a board and the tails behind it.
func boardOf(memory []float32) (*board, []byte) {
	return (*board)(unsafe.Pointer(unsafe.SliceData(memory))), vec.Bytes(memory)[unsafe.Sizeof(board{}):]
}

// ownBuffer returns the exchange buffer that this worker writes next.
func (h *host) ownBuffer() *exchangeBuffer { return &h.boards[h.local].buffers[h.agreements&1] }

// bufferOf returns the exchange buffer of a worker of this host as of the last agreement.
func (h *host) bufferOf(local int) *exchangeBuffer {
	return &h.boards[local].buffers[(h.agreements-1)&1]
}

// Arena returns n zeros that begin at the start of a cache line. They are valid until the
// group's Close. Gradients belong in an arena: on two levels the workers of a host read and
// write each other's arenas in place, and copy nothing.
//
// All ranks call Arena with the same n and in the same order among the operations. A group may
// have several arenas. The errors are those of an operation.
func (g *Group) Arena(ctx context.Context, n int) (own []float32, err error) {
	if g.host == nil {
		return alignedFloats(n), nil
	}
	if err := g.begin(ctx, opArena, n); err != nil {
		return nil, err
	}
	defer g.finish(&err)
	return g.host.arena(&g.op, n)
}

// arena makes an arena of n elements and returns this worker's part.
func (h *host) arena(op *operation, n int) ([]float32, error) {
	t := op.terms()
	t.length = uint64(n)
	if err := h.agree(op, t); err != nil || n == 0 {
		return nil, err
	}
	parts, err := h.allocate(op, n)
	if err != nil {
		return nil, err
	}
	h.arenas = append(h.arenas, parts)
	return parts[h.local], nil
}

// allocate returns n zeros for each worker of the host, by local rank. All workers call it in
// a running operation.
func (h *host) allocate(op *operation, n int) ([][]float32, error) {
	op.waitFor(inside, h.step)
	parts, err := h.memory.Arena(op.ctx, n)
	if err != nil {
		return nil, &fault{inside, h.step, err}
	}
	op.waitFor(nobody, h.step)
	return parts, nil
}

// find returns the number of the arena that buf lies in and the offset in it, or -1.
func (h *host) find(buf []float32) (number, offset int) {
	at := addressOf(buf)
	for i, parts := range h.arenas {
		own := parts[h.local]
		offset := (at - addressOf(own)) / 4
		if offset < uintptr(len(own)) && int(offset)+len(buf) <= len(own) {
			return i, int(offset)
		}
	}
	return -1, 0
}

func addressOf(x []float32) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(x))) }

// alignedFloats returns n zeros that begin at the start of a cache line.
func alignedFloats(n int) []float32 {
	a := make([]float32, n+lineElements)
	at := int(-addressOf(a)%arenaAlign) / 4
	return a[at : at+n : at+n]
}
