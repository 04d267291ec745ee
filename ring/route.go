package ring

import "math/bits"

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

// A cube is the plan of recursive doubling among size workers, numbered by their
// position in the ring; it is arithmetic only. The workers of its corners exchange
// with those across each edge in turn. Where size is no power of two, some corners
// stand for two workers: the odd one of the two, the extra, hands its part to the
// even one before the first edge and gets the result after the last.
type cube struct{ size int }

// edges is the number of exchanges of each corner.
func (c cube) edges() int { return bits.Len(uint(c.size)) - 1 }

// extras is the number of workers that have no corner of their own.
func (c cube) extras() int { return c.size - 1<<c.edges() }

// before is the number of rounds before the first edge: 0 or 1.
func (c cube) before() int { return min(c.extras(), 1) }

// rounds is the number of links that a worker has at most.
func (c cube) rounds() int { return c.before() + c.edges() }

// first returns the lowest worker of a corner. The workers of consecutive
// corners are consecutive.
func (c cube) first(corner int) int { return corner + min(corner, c.extras()) }

// corner returns the corner that worker me belongs to.
func (c cube) corner(me int) int {
	if e := c.extras(); me >= 2*e {
		return me - e
	}
	return me / 2
}

// extra tells whether worker me has no corner of its own.
func (c cube) extra(me int) bool { return c.first(c.corner(me)) != me }

// paired tells whether worker me shares its corner with another.
func (c cube) paired(me int) bool { return me < 2*c.extras() }

// partner returns whom worker me exchanges with in a round, or -1.
func (c cube) partner(me, round int) int {
	switch edge := round - c.before(); {
	case edge < 0 && c.paired(me):
		return me ^ 1
	case edge < 0 || c.extra(me):
		return -1
	default:
		return c.first(c.corner(me) ^ 1<<edge)
	}
}

// roundOf returns the round whose link a step takes: there and, as far as an
// algorithm goes, back again.
func (c cube) roundOf(step int) int {
	if r := c.rounds(); step >= r {
		return 2*r - 1 - step
	}
	return step
}

// back returns the step that goes back over the link of a round.
func (c cube) back(round int) int { return 2*c.rounds() - 1 - round }

// partnerAt returns whom worker me exchanges with in a step.
func (c cube) partnerAt(me, step int) int { return c.partner(me, c.roundOf(step)) }

// held returns the workers whose parts worker me, who has a corner of its own,
// holds before an edge: those of an aligned block of corners.
func (c cube) held(me, edge int) span {
	lo := c.corner(me) &^ (1<<edge - 1)
	return span{c.first(lo), c.first(lo + 1<<edge)}
}

// share returns what is left to a corner of n elements when it has given one
// half of what it had to the partner across each of the first edges: the upper
// half if its own bit of that edge is 0.
func (c cube) share(n, corner, edges int) span {
	s := span{0, n}
	for e := range edges {
		middle := s.lo + s.len()/2
		if corner>>e&1 == 0 {
			s.hi = middle
		} else {
			s.lo = middle
		}
	}
	return s
}
