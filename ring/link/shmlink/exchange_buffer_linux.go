package shmlink

import (
	"sync/atomic"
	"unsafe"

	"ringtrain/ring"
)

// peerState is the state of a worker in the exchange buffer.
type peerState uint32

const (
	alive peerState = iota
	left            // the worker has closed its memory
	died            // its socket ended before that
)

// cacheLinePair is the size of two cache lines. Processors fetch lines in pairs, so data that
// one core writes must not be in a pair that another core reads.
const cacheLinePair = 128

// exchangeBuffer is the memory in which the workers of a host count their arrivals. Each
// process maps it. All words are atomic, and a reader uses a word only for comparisons.
type exchangeBuffer struct {
	*bufferHeader
	slots []workerSlot // by local rank
}

// bufferHeader is the part of the buffer for all workers.
type bufferHeader struct {
	events   atomic.Uint32 // futex word; incremented when sleepers must check again
	_        [cacheLinePair - 4]byte
	sleepers atomic.Uint32 // workers that sleep or are about to
	_        [cacheLinePair - 4]byte
}

// workerSlot is the part of the buffer for one worker.
type workerSlot struct {
	entries [2]entry      // used in turn; only this worker writes them
	state   atomic.Uint32 // a peerState; set once, by this worker or by the other end of its socket
	_       [cacheLinePair - 4]byte
}

// entry is what a worker publishes at a barrier: its arrival, and its data for the others.
//
// The worker writes payload before it stores arrived. A reader loads arrived before it reads
// payload, so it sees the payload of that round. The worker writes the same entry again two
// rounds later. Then all workers have arrived in the round between, so all have read it.
type entry struct {
	arrived atomic.Uint64       // number of the worker's last barrier with this entry, from 1
	payload ring.BarrierPayload // on the cache line of arrived
	_       [cacheLinePair - 8 - ring.BarrierPayloadBytes]byte
}

// entry returns a worker's entry of a round.
func (e exchangeBuffer) entry(rank int, round uint64) *entry { return &e.slots[rank].entries[round%2] }

// exchangeBufferBytes returns the size of the exchange buffer of p workers.
func exchangeBufferBytes(p int) int {
	return int(unsafe.Sizeof(bufferHeader{})) + p*int(unsafe.Sizeof(workerSlot{}))
}

// exchangeBufferOf returns the exchange buffer of p workers in view.
func exchangeBufferOf(view []byte, p int) exchangeBuffer {
	if len(view) < exchangeBufferBytes(p) {
		panic("shmlink: exchange buffer too small")
	}
	base := unsafe.Pointer(unsafe.SliceData(view))
	first := (*workerSlot)(unsafe.Add(base, unsafe.Sizeof(bufferHeader{})))
	return exchangeBuffer{(*bufferHeader)(base), unsafe.Slice(first, p)}
}

// markEnded records how a worker has ended, unless that is recorded, and wakes all
// sleepers.
func (e exchangeBuffer) markEnded(rank int, f peerState) {
	e.slots[rank].state.CompareAndSwap(uint32(alive), uint32(f))
	e.wakeAll()
}

// wakeAll makes all sleepers check again. A worker that is about to sleep finds events
// changed and does not sleep.
func (e exchangeBuffer) wakeAll() {
	e.events.Add(1)
	futexWake(&e.events)
}
