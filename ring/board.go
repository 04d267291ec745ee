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

	// blames is 1 + the rank that this worker has blamed for the end of its group;
	// 0: none.
	blames atomic.Uint32
	_      [arenaAlign - 12]byte

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
