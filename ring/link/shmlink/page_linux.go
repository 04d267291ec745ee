package shmlink

import (
	"sync/atomic"
	"unsafe"

	"ringtrain/ring"
)

// A fate is what became of a worker.
type fate uint32

const (
	alive fate = iota
	left       // it closed its memory
	died       // its socket ended before that
)

// line is two cache lines: processors fetch lines in pairs, and what one core
// writes must not take away what another one reads.
const line = 128

// A page is the control page of a host. Every process maps it; the words are
// atomic, and whoever reads one believes it for what it is compared with only.
type page struct {
	*head
	places []place // by local rank
}

// The head of the page concerns all workers.
type head struct {
	events   atomic.Uint32 // rises when sleepers must look again: the word that they sleep on
	_        [line - 4]byte
	sleepers atomic.Uint32 // how many sleep or are about to
	_        [line - 4]byte
}

// A place belongs to one worker.
type place struct {
	posts [2]post       // used in turn; it alone writes these
	fate  atomic.Uint32 // alive until somebody says otherwise
	_     [line - 4]byte
}

// A post is how a worker tells that it has reached a barrier, and what it has for
// the others there. It writes one again when all have read it: they have come to
// the barrier in between.
type post struct {
	arrived atomic.Uint64 // number of the barrier, from 1
	slip    ring.Slip     // on the same cache line
	_       [line - 8 - ring.SlipBytes]byte
}

// post returns a worker's post of a barrier.
func (p page) post(rank int, round uint64) *post { return &p.places[rank].posts[round%2] }

// pageBytes is the size of the control page of p workers.
func pageBytes(p int) int { return int(unsafe.Sizeof(head{})) + p*int(unsafe.Sizeof(place{})) }

// pageOf returns the control page of p workers that lies in view.
func pageOf(view []byte, p int) page {
	if len(view) < pageBytes(p) {
		panic("shmlink: control page too small")
	}
	base := unsafe.Pointer(unsafe.SliceData(view))
	first := (*place)(unsafe.Add(base, unsafe.Sizeof(head{})))
	return page{(*head)(base), unsafe.Slice(first, p)}
}

// end notes what became of a worker, unless that is known, and has everybody
// look.
func (p page) end(rank int, f fate) {
	p.places[rank].fate.CompareAndSwap(uint32(alive), uint32(f))
	p.alarm()
}

// alarm has everybody who sleeps look again, and everybody who is about to
// sleep.
func (p page) alarm() {
	p.events.Add(1)
	futexWake(&p.events)
}
