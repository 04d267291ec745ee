package ring

import (
	"errors"
	"runtime"
)

// Transport is what the workers of a group exchange data over. The group closes all of it. A
// job of one rank needs none.
//
// A flat group sends all data over links: Ring and, for small buffers, Rounds. With two levels
// the workers of a host share Memory, and the drivers, which are those with Across, exchange data
// between hosts. If all workers are on one host then Memory suffices.
type Transport struct {
	// Ring connects this worker to its two neighbours. It may be nil if all workers share one
	// Memory.
	Ring Link

	// Rounds are the links of recursive doubling, by round: see RoundRoutes. A round without
	// this worker is nil. If Rounds is empty then the ring takes buffers of all sizes.
	Rounds []Link

	// Memory is shared by the workers of this host. It is nil in a flat group, and may be nil
	// for a worker that is alone on its host.
	Memory Memory

	// Across connects a driver, the i-th worker of its host, to the i-th workers of all other
	// hosts: see Membership.Across. It has no Memory. Each host has as many drivers as the
	// smallest host has workers. Across is nil for other workers and for a job on one host.
	Across *Transport
}

// close closes all links and memory of t.
func (t *Transport) close() error {
	var errs []error
	for _, l := range append([]Link{t.Ring}, t.Rounds...) {
		if l != nil {
			errs = append(errs, l.Close())
		}
	}
	if t.Memory != nil {
		errs = append(errs, t.Memory.Close())
	}
	if t.Across != nil {
		errs = append(errs, t.Across.close())
	}
	return errors.Join(errs...)
}

// Route names the two ends of a link: the rank that a worker sends to, and the rank that it
// receives from. They may be the same.
type Route struct {
	Stream   uint8 // number of the link between the same two workers
	To, From int   // ranks; -1: none
	Shared   bool  // To is From on both sides, so one connection may serve both directions
}

// The streams of a worker's links.
const (
	StreamRing   uint8 = 0  // the ring of all workers
	StreamRounds uint8 = 1  // and on: rounds of doubling among all workers
	StreamAcross uint8 = 32 // the ring of the i-th workers of all hosts
	StreamHops   uint8 = 33 // and on: rounds of doubling among those
)

// RingRoute returns the route of the ring for the worker at position me. ranks are ranks of the
// job in ring order. The worker sends to the next rank and receives from the previous one. The
// route of a single worker has no ends.
func RingRoute(ranks []int, me int, stream uint8) Route {
	p := len(ranks)
	if p == 1 {
		return Route{Stream: stream, To: -1, From: -1}
	}
	return Route{Stream: stream, To: ranks[(me+1)%p], From: ranks[(me+p-1)%p]}
}

// RoundRoutes returns the routes of recursive doubling, by round, for the worker at position me.
// ranks are ranks of the job in ring order. Round k has stream+k. A round without this worker has
// no ends.
//
// Let q be the largest power of two up to the number p of workers, and e = p-q. There are log₂ q
// rounds. If e is not 0 then a round 0 precedes them, which connects the workers 2i and 2i+1 for
// i < e.
//
//	p = 6, e = 2     0 ── 1   2 ── 3   4   5     round 0
//	                 0 ─────── 2       4 ─ 5     round 1
//	                 0 ─────────────── 4         round 2
//	                           2 ───────── 5
func RoundRoutes(ranks []int, me int, stream uint8) []Route {
	c := cube{len(ranks)}
	routes := make([]Route, c.rounds())
	for k := range routes {
		routes[k] = Route{Stream: stream + uint8(k), To: -1, From: -1, Shared: true}
		if partner := c.partner(me, k); partner >= 0 {
			routes[k].To, routes[k].From = ranks[partner], ranks[partner]
		}
	}
	return routes
}

// LeastThreads is the number of threads that the Go code of a worker needs beside links over
// sockets, on any number of cores: one each for the caller, the receiver and the sender. A wait in
// such a link is a system call, which keeps its thread until the runtime notices. With fewer
// threads other goroutines stand still for that time: see BenchmarkThreads in package tcplink.
const LeastThreads = 3

// needThreads raises GOMAXPROCS for good to the number of threads that the links of t ask for.
// Links in memory ask for none: more threads than cores would slow them down.
func needThreads(t Transport) {
	least := 0
	for _, l := range append([]Link{t.Ring}, t.Rounds...) {
		if l != nil {
			least = max(least, l.Facts().Threads)
		}
	}
	if runtime.GOMAXPROCS(0) < least {
		runtime.GOMAXPROCS(least)
	}
}
