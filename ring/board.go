package ring

import (
	"context"
	"sync/atomic"
	"unsafe"
)

const (
	// smallElements bounds the buffers that every worker of a host sums for
	// itself, in one Sync instead of two.
	smallElements = 2048

	// exchangeElements is the elements that an exchange buffer holds. A buffer outside of all arenas is summed
	// in pieces of it, and bytes are gathered and broadcast in pieces as long.
	exchangeElements = 1 << 16

	exchangeBytes = 4 * exchangeElements
)

// A board is a worker's part of the memory by which the workers of a host run
// their operations; PROTOCOL.md has its picture. Each worker writes its own, and
// the others read it after the next Sync.
//
// Buffers are used in turn. A worker that writes a buffer again has been through the
// Sync of the other buffer since, and all had read this one before they called it.
type board struct {
	buffers [2]exchangeBuffer

	// beat counts what this worker's operations have moved, as far as its
	// watchdog saw, so that the others know of a wait that is not in vain.
	beat atomic.Uint64

	// aborted is the length of why, the payload of an abort by which this worker's group has ended, and
	// guessed if it is a guess; 0: none.
	aborted atomic.Uint32
	_       [arenaAlign - 12]byte
	why     [9 * arenaAlign]byte

	// sum and, behind the board, the tails of all ranks are used on the first
	// worker's board only, which fills them in between two Syncs.
	sum [smallElements]float32
}

// An exchangeBuffer is what a worker tells the others at one Sync.
type exchangeBuffer struct {
	payload BarrierPayload // where the memory is no Exchanger
	length  uint64         // number of bytes that this worker has for the others
	data    [exchangeElements]float32
	tail    [TailBytes]byte
}

// guessed is the bit of aborted that says so.
const guessed = 1 << 31

// leave writes why this worker's group has ended. It must be called once at most.
func (b *board) leave(a *Abort) {
	n := uint32(len(a.appendPayload(b.why[:0])))
	if a.guess {
		n |= guessed
	}
	b.aborted.Store(n)
}

// abort returns why the group of the board's worker has ended; nil if it has not, or says nothing.
func (b *board) abort() *Abort {
	n := b.aborted.Load()
	payload := b.why[:min(n&^guessed, uint32(len(b.why)))]
	a, err := parseAbort(payload)
	if err != nil {
		return nil
	}
	a.guess = n&guessed != 0
	return a
}

// arenaAlign is a cache line, in bytes.
const arenaAlign = 64

// Each part of a board begins at a cache line of its own.
var _ [0]struct{} = [unsafe.Sizeof(exchangeBuffer{}) % arenaAlign]struct{}{}

// boardElements is the length of a board with the tails of size ranks.
func boardElements(size int) int {
	return int(unsafe.Sizeof(board{}))/4 + size*TailBytes/4
}

// boardOf views memory of boardElements as a board and the tails behind it.
func boardOf(memory []float32) (*board, []byte) {
	return (*board)(unsafe.Pointer(unsafe.SliceData(memory))), bytesOf(memory)[unsafe.Sizeof(board{}):]
}

// ownBuffer returns the buffer that this worker writes next.
func (h *host) ownBuffer() *exchangeBuffer { return &h.boards[h.local].buffers[h.agreements&1] }

// bufferOf returns the buffer of a worker of this host as of the last agreement.
func (h *host) bufferOf(local int) *exchangeBuffer {
	return &h.boards[local].buffers[(h.agreements-1)&1]
}

// Arena returns n zeros whose first element lies at the start of a cache line.
// Gradients belong there: buckets are slices of it, and on two levels the
// workers of a host read and write each other's in place, so that nothing is
// copied. They are valid until the group's Close.
//
// All ranks call it, with the same n and in the same order among the operations;
// there may be several arenas. Its errors are those of an operation.
func (g *Group) Arena(ctx context.Context, n int) ([]float32, error) {
	if g.host == nil {
		return alignedFloats(n), nil
	}
	if err := g.begin(ctx, opArena, n); err != nil {
		return nil, err
	}
	defer g.finish()
	return g.host.arena(n)
}

// arena makes one of n elements and returns this worker's part.
func (h *host) arena(n int) ([]float32, error) {
	note := h.g.notice()
	note.length = uint64(n)
	if err := h.agree(note); err != nil || n == 0 {
		return nil, err
	}
	parts, err := h.allocate(h.g.op.ctx, n)
	if err != nil {
		return nil, err
	}
	h.arenas = append(h.arenas, parts)
	return parts[h.local], nil
}

// allocate returns n zeros for each worker of the host, by local rank. All workers call it in
// a running operation.
func (h *host) allocate(ctx context.Context, n int) ([][]float32, error) {
	h.g.waitFor(inside, h.step)
	parts, err := h.memory.Arena(ctx, n)
	if err != nil {
		return nil, h.g.fail(inside, h.step, err)
	}
	h.g.waitFor(nobody, h.step)
	return parts, nil
}

// find returns the number of the arena that buf lies in, and where; -1: none.
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
