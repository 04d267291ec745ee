package shmlink

import (
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// How long a worker waits in which way. Measured with 2, 4 and 8 processes on two
// cores: with a core each a barrier takes 0.1 µs with spinning and 0.3 without.
// With more workers than cores it takes 3 and 8 µs by yielding, twice that if
// they spin before, and 26 and 60 if they sleep at once.
const (
	spinLooks = 1000                   // about a microsecond
	clockEach = 16                     // yields, so that most barriers need no clock
	yieldFor  = 200 * time.Microsecond // longer than any barrier that nobody is late for
	maxNap    = 50 * time.Millisecond  // bounds what a lost wake costs
)

// A barrier makes workers wait for each other, by the counts in their control
// page.
type barrier struct {
	page
	me      int
	spin    int           // looks before the first yield
	round   uint64        // how often this worker has called await
	late    int           // the first worker that has not arrived in this round; their number if all have
	nap     unix.Timespec // maxNap
	missing atomic.Int32  // see Missing
	over    atomic.Bool   // no await may block any more
}

// init readies b for its page.
func (b *barrier) init(me int) {
	b.me = me
	b.nap = unix.NsecToTimespec(maxNap.Nanoseconds())
	b.missing.Store(-1)
}

// await returns once all workers have called it as often. It is false if that
// will not be: b.over is set, or the worker that b.missing names has ended.
func (b *barrier) await() bool {
	b.round++
	b.late = 0
	b.post(b.me, b.round).arrived.Store(b.round)
	if b.complete() {
		// Whoever arrives last sees all the others' counts, since the order of
		// all these stores and loads is one and the same for everybody. For the
		// same reason either this worker sees a sleeper, or that one the count.
		if b.sleepers.Load() > 0 {
			b.alarm()
		}
		return true
	}
	for range b.spin {
		if b.complete() {
			return true
		}
	}
	b.missing.Store(int32(b.late))
	if b.yield() || b.sleep() {
		b.missing.Store(-1)
		return true
	}
	b.missing.Store(int32(b.late))
	return false
}

// complete tells whether all have arrived. It looks again only for those that
// had not before.
func (b *barrier) complete() bool {
	for b.late < len(b.places) && b.post(b.late, b.round).arrived.Load() >= b.round {
		b.late++
	}
	return b.late == len(b.places)
}

// yield waits while it gives the core away. It is true if all have arrived, and
// false if it is time to sleep.
func (b *barrier) yield() bool {
	var since time.Time
	for looks := 1; ; looks++ {
		yield()
		if b.complete() {
			return true
		}
		if b.over.Load() || b.places[b.late].fate.Load() != uint32(alive) {
			return false
		}
		if looks%clockEach != 0 {
			continue
		}
		if since.IsZero() {
			since = time.Now()
		} else if time.Since(since) > yieldFor {
			break
		}
	}
	runtime.Gosched() // what is late may be in this very process
	return false
}

// sleep waits without using the core. It is true if all have arrived, and false
// if it waits in vain, for the worker that b.late says.
func (b *barrier) sleep() bool {
	b.sleepers.Add(1)
	defer b.sleepers.Add(^uint32(0))
	for {
		events := b.events.Load()
		switch {
		case b.complete():
			return true
		case b.over.Load(), b.lost():
			return false
		}
		b.missing.Store(int32(b.late))
		futexWait(&b.events, events, &b.nap)
	}
}

// lost tells whether a worker has ended before it arrived, which is the one that
// b.late says then.
func (b *barrier) lost() bool {
	for i := b.late; i < len(b.places); i++ {
		// In this order: what a worker did before its end is seen.
		if b.places[i].fate.Load() != uint32(alive) && b.post(i, b.round).arrived.Load() < b.round {
			b.late = i
			return true
		}
	}
	return false
}
