package shmlink

import (
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// The stages of a wait, and their limits. A worker spins only if each worker has a core.
// With more workers than cores it yields the core at once, and sleeps last.
const (
	spinChecks     = 1000                   // about a microsecond
	yieldsPerClock = 16                     // yields between two readings of the clock
	yieldDuration  = 200 * time.Microsecond // longer than a barrier at which all workers arrive in time
	timedRounds    = 17                     // rounds of which one times its first yield
	sharedWaits    = 1000                   // waits that sleep at once after others were found on the cores
	ownShare       = 0.75                   // of a core, at least, while no other program is on it
	sleepLimit     = 50 * time.Millisecond  // bounds the delay of a lost wake-up
)

// barrier lets the workers of a host wait for each other. Each worker counts its arrivals in
// the exchange buffer.
//
// Only worker i writes entry(i, round).arrived, and the value only grows. A worker leaves
// round n when it has loaded a value of at least n from the entries of all workers.
type barrier struct {
	exchangeBuffer
	me          int
	spin        int           // checks before the first yield; 0 if the workers share cores
	beside      bool          // other programs were on the cores at the last timed yield
	shared      int           // waits to come that sleep at once, because of them
	yieldedAt   time.Time     // when a yield last took long
	used        time.Duration // time of all cores that this process had used then
	round       uint64        // number of calls of await by this worker
	firstLate   int           // first worker that has not arrived in this round; the number of workers if all have
	maxSleep    unix.Timespec // sleepLimit
	missing     atomic.Int32  // see Missing
	interrupted atomic.Bool   // await must not block any more
}

// init prepares b for its exchange buffer.
func (b *barrier) init(me int) {
	b.me = me
	b.maxSleep = unix.NsecToTimespec(sleepLimit.Nanoseconds())
	b.yieldedAt = time.Now()
	b.missing.Store(-1)
}

// await returns true once all workers have called it equally often. It returns false if this
// cannot happen: b.interrupted is set, or the worker that b.missing names has ended.
func (b *barrier) await() bool {
	b.round++
	b.firstLate = 0
	b.entry(b.me, b.round).arrived.Store(b.round)
	if b.allArrived() {
		// Every load and store of arrived, sleepers and events is sequentially
		// consistent. The worker that stores its arrival last therefore sees all
		// others' counts. A sleeper adds itself to sleepers before it checks the
		// counts. So either this worker sees the sleeper, or the sleeper sees this
		// arrival and does not sleep.
		if b.sleepers.Load() > 0 {
			b.wakeAll()
		}
		return true
	}
	for range b.spin {
		if b.allArrived() {
			return true
		}
	}
	b.missing.Store(int32(b.firstLate))
	if b.mayYield() && b.yield() || b.sleep() {
		b.missing.Store(-1)
		return true
	}
	b.missing.Store(int32(b.firstLate))
	return false
}

// allArrived reports whether all workers have arrived. It checks only the workers that had
// not arrived at the last call.
func (b *barrier) allArrived() bool {
	for b.firstLate < len(b.slots) && b.entry(b.firstLate, b.round).arrived.Load() >= b.round {
		b.firstLate++
	}
	return b.firstLate == len(b.slots)
}

// mayYield reports whether this wait yields before it sleeps. Each worker may have a core, and
// other programs may use the cores all the same. A worker that yields then waits for a time
// slice of theirs, some milliseconds in each step. A worker that sleeps is woken at once,
// because the system prefers a thread that used little of its core.
func (b *barrier) mayYield() bool {
	if b.shared == 0 {
		return true
	}
	b.shared--
	return false
}

// yield waits and yields the core between two checks. It returns true if all workers have
// arrived, and false when it is time to sleep.
func (b *barrier) yield() bool {
	var since time.Time
	timed := b.spin > 0 && (b.beside || b.round%timedRounds == 0)
	if timed {
		since = time.Now()
	}
	for looks := 1; ; looks++ {
		yieldCore()
		if looks == 1 && timed {
			if b.beside = time.Since(since) > yieldDuration && b.othersRan(); b.beside {
				b.shared = sharedWaits
			}
		}
		if b.allArrived() {
			return true
		}
		if b.interrupted.Load() || b.slots[b.firstLate].state.Load() != uint32(alive) {
			return false
		}
		if looks%yieldsPerClock != 0 && b.shared == 0 {
			continue
		}
		if since.IsZero() {
			since = time.Now()
		} else if time.Since(since) > yieldDuration {
			break
		}
	}
	runtime.Gosched() // the late worker may be a goroutine of this process
	return false
}

// othersRan reports whether other programs ran during a yield that took long. The time between
// two such yields decides: this process uses a whole core, waits included, unless others do.
// Goroutines that read ahead are no others.
func (b *barrier) othersRan() bool {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return false
	}
	now, used := time.Now(), time.Duration(t.Nano())
	share := float64(used-b.used) / float64(now.Sub(b.yieldedAt))
	b.yieldedAt, b.used = now, used
	return share < ownShare
}

// sleep waits without using the core. It returns true if all workers have arrived, and false
// if the wait is in vain: interrupted, or for the worker firstLate.
//
// sleep loads events before it checks the counts, and futexWait compares events with that
// value. wakeAll increments events. A worker that arrives after the check therefore either
// changes events before the sleep begins, which prevents it, or wakes the sleeper.
func (b *barrier) sleep() bool {
	b.sleepers.Add(1)
	defer b.sleepers.Add(^uint32(0))
	for {
		events := b.events.Load()
		switch {
		case b.allArrived():
			return true
		case b.interrupted.Load(), b.findLost():
			return false
		}
		b.missing.Store(int32(b.firstLate))
		futexWait(&b.events, events, &b.maxSleep)
	}
}

// findLost reports whether a worker has ended before it arrived, and sets firstLate to that
// worker.
func (b *barrier) findLost() bool {
	for i := b.firstLate; i < len(b.slots); i++ {
		// state before arrived: an arrival stored before the end is then seen.
		if b.slots[i].state.Load() != uint32(alive) && b.entry(i, b.round).arrived.Load() < b.round {
			b.firstLate = i
			return true
		}
	}
	return false
}
