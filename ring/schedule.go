package ring

import "math/bits"

// A schedule says which frames each rank sends in an all-reduce, in order. Its ranks are
// positions in the ring. It is arithmetic only: no rank asks another what comes next. A rank
// receives what its left neighbour sends.
type schedule struct {
	size    int // world size, 2 or more
	length  int // elements of the buffer
	segment int // elements of a segment at most
	tail    int // bytes of the tail that each step of reduce-scatter carries; 0: none
}

// A span is the elements [lo, hi) of the buffer.
type span struct{ lo, hi int }

func (s span) len() int { return s.hi - s.lo }

// A part is the content of one frame of an all-reduce.
type part struct {
	step, segment int // step of the ring, segment in its chunk; both from 0
	chunk         int
	span          span // its elements; empty in a frame that has a tail only
	tail          int  // the rank whose tail ends the frame, or -1
}

// chunkSpan divides length elements into size chunks, which differ by at most one element, and
// returns chunk c. The longer chunks come first.
func chunkSpan(length, size, c int) span {
	short, long := length/size, length%size
	lo := c*short + min(c, long)
	if c < long {
		short++
	}
	return span{lo, lo + short}
}

// steps returns the number of steps of both phases.
func (s schedule) steps() int { return 2 * s.scatterSteps() }

// scatterSteps returns the number of steps of reduce-scatter, and of all-gather.
func (s schedule) scatterSteps() int { return s.size - 1 }

// chunk returns the chunk that the rank at a position of the ring sends in a step. In reduce-scatter a rank first sends its
// own chunk, then the chunk that it received in the step before. In all-gather it first sends
// the complete chunk that it then owns, that of step scatterSteps. So both phases are one walk
// down the chunks.
func (s schedule) chunk(position, step int) int {
	return mod(position-step, s.size)
}

// segments returns the number of frames of a chunk in a step. A step that carries a tail has a
// frame even for an empty chunk.
func (s schedule) segments(chunk, step int) int {
	n := (chunkSpan(s.length, s.size, chunk).len() + s.segment - 1) / s.segment
	if n == 0 && s.tail > 0 && step < s.scatterSteps() {
		return 1
	}
	return n
}

// most returns the largest number of segments of a chunk. Chunk 0 is the longest.
func (s schedule) most() int { return s.segments(0, 0) }

// part returns segment k of the chunk that rank sends in a step.
func (s schedule) part(rank, step, k int) part {
	c := s.chunk(rank, step)
	all := chunkSpan(s.length, s.size, c)
	lo := all.lo + k*s.segment
	p := part{step: step, segment: k, chunk: c, span: span{lo, min(lo+s.segment, all.hi)}, tail: -1}
	if s.tail > 0 && step < s.scatterSteps() && k == s.segments(c, step)-1 {
		p.tail = c // tail r starts at rank r, as chunk r does
	}
	return p
}

// passedOn reports whether the rank that receives p sends the same segment in the next step.
func (s schedule) passedOn(p part) bool {
	return p.step+1 < s.steps() && p.segment < s.segments(p.chunk, p.step+1)
}

// A walk visits the parts that a rank sends, in order.
type walk struct {
	schedule
	rank, step, segment int
}

func (s schedule) walk(rank int) walk { return walk{schedule: s, rank: rank} }

// next returns the next part, and false after the last one.
func (w *walk) next() (part, bool) {
	for w.step < w.steps() {
		if k := w.segment; k < w.segments(w.chunk(w.rank, w.step), w.step) {
			w.segment++
			return w.part(w.rank, w.step, k), true
		}
		w.step, w.segment = w.step+1, 0
	}
	return part{}, false
}

func mod(a, n int) int {
	if a %= n; a < 0 {
		a += n
	}
	return a
}

// lineElements is the number of float32 in a cache line.
const lineElements = 16

// shardSpan divides length elements into count shards of whole cache lines and returns shard i.
// Shards differ by one line at most, and the longer ones come first. The last shard that is not
// empty takes the rest.
func shardSpan(length, count, i int) span {
	lines := chunkSpan((length+lineElements-1)/lineElements, count, i)
	return span{min(lines.lo*lineElements, length), min(lines.hi*lineElements, length)}
}

// cube is the plan of recursive doubling among size workers, which it counts by their position in
// the ring. It is arithmetic only. Each corner of the cube has a worker, which exchanges data
// across one edge after the other. If size is not a power of two then some corners have two
// workers. The odd one of the two, the extra, gives its part to the even one before the first edge
// and gets the result after the last.
type cube struct{ size int }

// edges returns the number of exchanges of each corner.
func (c cube) edges() int { return bits.Len(uint(c.size)) - 1 }

// extras returns the number of extra workers.
func (c cube) extras() int { return c.size - 1<<c.edges() }

// before returns the number of rounds before the first edge: 0 or 1.
func (c cube) before() int { return min(c.extras(), 1) }

// rounds returns the largest number of links of a worker.
func (c cube) rounds() int { return c.before() + c.edges() }

// first returns the lowest worker of a corner. The workers of consecutive corners are consecutive.
func (c cube) first(corner int) int { return corner + min(corner, c.extras()) }

// corner returns the corner of worker me.
func (c cube) corner(me int) int {
	if e := c.extras(); me >= 2*e {
		return me - e
	}
	return me / 2
}

// extra reports whether worker me is an extra.
func (c cube) extra(me int) bool { return c.first(c.corner(me)) != me }

// paired reports whether worker me shares its corner with another worker.
func (c cube) paired(me int) bool { return me < 2*c.extras() }

// partner returns the worker with which worker me exchanges data in a round, or -1.
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

// roundOf returns the round whose link a step uses. An algorithm goes through the rounds and may
// then go back through them.
func (c cube) roundOf(step int) int {
	if r := c.rounds(); step >= r {
		return 2*r - 1 - step
	}
	return step
}

// back returns the step that goes back over the link of a round.
func (c cube) back(round int) int { return 2*c.rounds() - 1 - round }

// partnerAt returns the worker with which worker me exchanges data in a step, or -1.
func (c cube) partnerAt(me, step int) int { return c.partner(me, c.roundOf(step)) }

// held returns the workers whose parts worker me has summed before an edge: those of an aligned
// block of corners. me is not an extra.
func (c cube) held(me, edge int) span {
	lo := c.corner(me) &^ (1<<edge - 1)
	return span{c.first(lo), c.first(lo + 1<<edge)}
}

// share returns the part of n elements that a corner still sums after a number of edges. Across
// each edge it gives one half to its partner: the upper half if its bit of that edge is 0.
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
