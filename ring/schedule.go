package ring

// A schedule says which frames each rank sends in an all-reduce, in order. Its
// ranks are positions in the ring, which is another matter only where that has an
// Order. It is arithmetic only: no rank asks another what comes next, and what a rank
// receives is what its left neighbour sends.
type schedule struct {
	size    int // world size, 2 or more
	length  int // elements of the buffer
	segment int // elements of a segment at most
	tail    int // bytes of the tail that each step of reduce-scatter carries; 0: none
}

// A span is the elements [lo, hi) of the buffer.
type span struct{ lo, hi int }

func (s span) len() int { return s.hi - s.lo }

// A part is what one frame of an all-reduce carries.
type part struct {
	step, segment int // step of the ring, segment in its chunk; both from 0
	chunk         int
	span          span // its elements; empty in a frame that has a tail only
	tail          int  // the rank whose tail ends the frame, or -1
}

// chunkSpan cuts length elements into size chunks that differ by one element
// at most, the longer ones first, and returns chunk c.
func chunkSpan(length, size, c int) span {
	short, long := length/size, length%size
	lo := c*short + min(c, long)
	if c < long {
		short++
	}
	return span{lo, lo + short}
}

// steps is the number of steps of both phases.
func (s schedule) steps() int { return 2 * s.scatterSteps() }

// scatterSteps is the number of steps of reduce-scatter, and of all-gather.
func (s schedule) scatterSteps() int { return s.size - 1 }

// chunk returns what rank sends in a step: in reduce-scatter first its own
// chunk, then the one that it got in the step before; in all-gather first the
// chunk that it then owns, complete: the one of step scatterSteps. So both phases
// are one walk down the chunks.
func (s schedule) chunk(rank, step int) int {
	return mod(rank-step, s.size)
}

// segments returns the number of frames of a chunk in a step. A step that has
// a tail to carry has a frame, even for an empty chunk.
func (s schedule) segments(chunk, step int) int {
	n := (chunkSpan(s.length, s.size, chunk).len() + s.segment - 1) / s.segment
	if n == 0 && s.tail > 0 && step < s.scatterSteps() {
		return 1
	}
	return n
}

// most is the largest number of segments of a chunk. Chunk 0 is the longest.
func (s schedule) most() int { return s.segments(0, 0) }

// part returns segment k of what rank sends in a step.
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

// passedOn tells whether the rank that receives p sends the same segment in the
// step after.
func (s schedule) passedOn(p part) bool {
	return p.step+1 < s.steps() && p.segment < s.segments(p.chunk, p.step+1)
}

// A walk goes through the parts that a rank sends, in order.
type walk struct {
	schedule
	rank, step, segment int
}

func (s schedule) walk(rank int) walk { return walk{schedule: s, rank: rank} }

// next returns the next part, and whether there is one.
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
