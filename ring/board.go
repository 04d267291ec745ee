package ring

import (
	"sync/atomic"
	"unsafe"
)

const (
	// smallElements bounds the buffers that every worker of a host sums for
	// itself, in one Sync instead of two.
	smallElements = 2048

	// pageElements is what a page holds. A buffer outside of all arenas is summed
	// in pieces of it, and bytes are gathered and broadcast in pieces as long.
	pageElements = 1 << 16

	pageBytes = 4 * pageElements
)

// A board is a worker's part of the memory by which the workers of a host run
// their operations; PROTOCOL.md has its picture. Each worker writes its own, and
// the others read it after the next Sync.
//
// Pages are used in turn. A worker that writes a page again has been through the
// Sync of the other page since, and all had read this one before they called it.
type board struct {
	pages [2]page

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

// A page is what a worker tells the others at one Sync.
type page struct {
	slip Slip   // where the memory is no Exchanger
	said uint64 // bytes that this worker has for the others
	data [pageElements]float32
	tail [TailBytes]byte
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
var _ [0]struct{} = [unsafe.Sizeof(page{}) % arenaAlign]struct{}{}

// boardElements is the length of a board with the tails of size ranks.
func boardElements(size int) int {
	return int(unsafe.Sizeof(board{}))/4 + size*TailBytes/4
}

// boardOf views memory of boardElements as a board and the tails behind it.
func boardOf(memory []float32) (*board, []byte) {
	return (*board)(unsafe.Pointer(unsafe.SliceData(memory))), bytesOf(memory)[unsafe.Sizeof(board{}):]
}

// page returns the page that this worker writes next.
func (h *host) page() *page { return &h.boards[h.local].pages[h.turn&1] }

// posted returns the page of a worker of this host as of the last meeting.
func (h *host) posted(local int) *page { return &h.boards[local].pages[(h.turn-1)&1] }
