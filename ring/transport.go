package ring

import (
	"errors"
	"runtime"
)

// Transport is what the workers of a group exchange data over. The group closes
// all of it. World size 1 needs none of it.
//
// Flat, all data goes over links: Ring, and for small buffers Rounds. On two
// levels the workers of a host share Memory, and those that Across is given to,
// the drivers, do the part between hosts. If all workers are on one host then
// Memory is all there is.
type Transport struct {
	// Ring joins this worker to its neighbours. It is nil only if all workers
	// share one Memory.
	Ring Link

	// Rounds are the links of recursive doubling, by round; see RoundRoutes. A round
	// that this worker has no part in is nil. Empty: what would take them takes
	// the ring.
	Rounds []Link

	// Memory is shared by the workers of this host. It is nil where all is flat;
	// a worker that is alone on its host may do without.
	Memory Memory

	// Across joins a driver, the i-th worker of its host, to the i-th worker of
	// every other host: see Membership.Across. It has no Memory. There are as
	// many drivers on each host as the host with the fewest workers has workers.
	// It is nil on others, and if there is one host only.
	Across *Transport
}

// close closes all of t.
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

// A Route is what one link of a worker joins: whom it sends to and whom it
// receives from, which may be one and the same.
type Route struct {
	Stream   uint8 // tells apart the links between the same two workers
	To, From int   // ranks; -1: nobody
	Shared   bool  // the two answer each other: one connection may serve both directions, as both know
}

// The streams of a worker's links.
const (
	StreamRing   uint8 = 0  // the ring of all workers
	StreamRounds uint8 = 1  // and on: rounds of doubling among all workers
	StreamAcross uint8 = 32 // the ring of the i-th workers of all hosts
	StreamHops   uint8 = 33 // and on: rounds of doubling among those
	StreamSurvey uint8 = 61 // the ring of all workers while the bandwidth between hosts is measured
	StreamPairs  uint8 = 62 // the first workers of two hosts, meanwhile
)

// RingRoute returns the route of the ring among the workers ranks, real rank
// numbers in ring order, for worker me of them: it sends to the next one and
// receives from the one before. A single worker joins nobody.
func RingRoute(ranks []int, me int, stream uint8) Route {
	p := len(ranks)
	if p == 1 {
		return Route{Stream: stream, To: -1, From: -1}
	}
	return Route{Stream: stream, To: ranks[(me+1)%p], From: ranks[(me+p-1)%p]}
}

// RoundRoutes returns the routes of recursive doubling among the workers ranks,
// real rank numbers in ring order, for worker me of them, by round. Each round
// has a stream of its own, from stream on. In a round that a worker has no part
// in both ends are -1.
//
// For any number of workers p there are log₂ q rounds, where q is the largest
// power of two in p, and before them one more if e = p-q is not 0: round 0 joins
// the workers 2i and 2i+1 for i < e.
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

// LeastThreads is how many threads a worker's Go code needs beside links over sockets, whatever its cores: for the
// caller's own work, for who receives and for who sends. A wait in such a link is a system call, which keeps its thread
// until the runtime looks, ten milliseconds later at worst: with fewer threads the work beside it stands still for as
// long (see BenchmarkThreads in package tcplink).
const LeastThreads = 3

// needThreads raises GOMAXPROCS, for good, to what the links of t ask for. Links in memory ask for nothing: more threads
// than cores slow them down.
func needThreads(t Transport) {
	least := 0
	for _, l := range append([]Link{t.Ring}, t.Rounds...) {
		if l, ok := l.(ThreadLink); ok {
			least = max(least, l.Threads())
		}
	}
	if runtime.GOMAXPROCS(0) < least {
		runtime.GOMAXPROCS(least)
	}
}
