package ring

import (
	"fmt"
	"slices"
	"testing"
)

// TestChunkSpan verifies that chunks neither overlap nor leave a gap, and differ by at most
// one element.
func TestChunkSpan(t *testing.T) {
	tests := []struct {
		name    string
		n, size int
		want    []span
	}{
		{"even", 8, 4, []span{{0, 2}, {2, 4}, {4, 6}, {6, 8}}},
		{"remainder first", 10, 4, []span{{0, 3}, {3, 6}, {6, 8}, {8, 10}}},
		{"fewer elements than ranks", 2, 4, []span{{0, 1}, {1, 2}, {2, 2}, {2, 2}}},
		{"empty", 0, 3, []span{{0, 0}, {0, 0}, {0, 0}}},
		{"one rank", 5, 1, []span{{0, 5}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for c, want := range tt.want {
				if got := chunkSpan(tt.n, tt.size, c); got != want {
					t.Errorf("chunkSpan(%d, %d, %d) = %v, want %v", tt.n, tt.size, c, got, want)
				}
			}
		})
	}
}

// schedules returns schedules of p ranks with chunks of no, one and several
// segments, with and without tails.
func schedules(p int) []schedule {
	var all []schedule
	for _, n := range []int{0, 1, p - 1, p, p + 1, 4*p - 1, 4 * p, 11*p + 3} {
		for _, tail := range []int{0, 64} {
			all = append(all, schedule{size: p, length: n, segment: 4, tail: tail})
		}
	}
	return all
}

// sums is the state of one rank in a simulated all-reduce: for each element the
// set of ranks that are summed in it, and the tails it has.
type sums struct {
	ranks [][]int
	tails map[int]bool
}

// TestScheduleSumsEveryRankOnce verifies that every rank owns sums of all ranks, each once. It
// runs the schedule on sets of ranks instead of numbers, so that a missing and a doubled
// contribution cannot cancel out.
func TestScheduleSumsEveryRankOnce(t *testing.T) {
	for p := 2; p <= 17; p++ {
		for _, s := range schedules(p) {
			t.Run(fmt.Sprintf("p=%d/n=%d/tail=%d", p, s.length, s.tail), func(t *testing.T) {
				for rank, got := range simulate(t, s) {
					for i, ranks := range got.ranks {
						slices.Sort(ranks)
						if !slices.Equal(ranks, upTo(p)) {
							t.Fatalf("rank %d: element %d is summed over ranks %v, want %v", rank, i, ranks, upTo(p))
						}
					}
					if s.tail > 0 && len(got.tails) != p {
						t.Errorf("rank %d has the tails of %d ranks, want %d", rank, len(got.tails), p)
					}
				}
			})
		}
	}
}

// simulate lets every rank do its next part as soon as its left neighbour has
// sent it.
func simulate(t *testing.T, s schedule) []sums {
	state := make([]sums, s.size)
	parts := make([][]part, s.size) // what each rank sends
	for r := range state {
		state[r] = sums{make([][]int, s.length), map[int]bool{r: true}}
		for i := range state[r].ranks {
			state[r].ranks[i] = []int{r}
		}
		w := s.walk(r)
		for p, ok := w.next(); ok; p, ok = w.next() {
			parts[r] = append(parts[r], p)
		}
	}
	for step := range s.steps() {
		before := make([]sums, s.size) // all ranks send at once
		for r := range state {
			before[r] = sums{slices.Clone(state[r].ranks), state[r].tails}
		}
		for r := range state {
			from := mod(r-1, s.size)
			for _, p := range parts[from] {
				if p.step == step {
					apply(t, s, &state[r], &before[from], p)
				}
			}
		}
	}
	return state
}

func apply(t *testing.T, s schedule, to, from *sums, p part) {
	for i := p.span.lo; i < p.span.hi; i++ {
		if p.step < s.scatterSteps() {
			to.ranks[i] = slices.Concat(to.ranks[i], from.ranks[i])
		} else {
			to.ranks[i] = slices.Clone(from.ranks[i])
		}
	}
	if p.tail >= 0 {
		if !from.tails[p.tail] || to.tails[p.tail] {
			t.Errorf("step %d: tail of rank %d sent by a rank that lacks it, or twice", p.step, p.tail)
		}
		to.tails[p.tail] = true
	}
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// TestPassedOn verifies that a rank sends, after its own chunk, exactly the received frames
// that it must pass on, in their order, and that it owns the next rank's chunk in the end.
func TestPassedOn(t *testing.T) {
	for p := 2; p <= 17; p++ {
		for _, s := range schedules(p) {
			for rank := range p {
				var sent, passed []part
				w := s.walk(rank)
				for q, ok := w.next(); ok; q, ok = w.next() {
					if q.step > 0 {
						sent = append(sent, part{step: q.step, segment: q.segment, chunk: q.chunk})
					}
				}
				w = s.walk(mod(rank-1, p))
				for q, ok := w.next(); ok; q, ok = w.next() {
					if s.passedOn(q) {
						passed = append(passed, part{step: q.step + 1, segment: q.segment, chunk: q.chunk})
					}
				}
				if !slices.Equal(sent, passed) {
					t.Fatalf("p=%d n=%d tail=%d: rank %d sends %v, passes on %v", p, s.length, s.tail, rank, sent, passed)
				}
				if own := s.chunk(rank, s.scatterSteps()); own != mod(rank+1, p) {
					t.Fatalf("p=%d: rank %d owns chunk %d, want %d", p, rank, own, mod(rank+1, p))
				}
			}
		}
	}
}

// TestSpansLieInChunks verifies that the segments of a chunk neither overlap, nor leave a gap,
// nor are too long.
func TestSpansLieInChunks(t *testing.T) {
	for _, s := range schedules(5) {
		for c := range s.size {
			at := chunkSpan(s.length, s.size, c).lo
			for k := range s.segments(c, 0) {
				got := s.part(c, 0, k).span
				if got.lo != at || got.len() < 0 || got.len() > s.segment {
					t.Fatalf("n=%d: chunk %d, segment %d is %v, want to begin at %d", s.length, c, k, got, at)
				}
				at = got.hi
			}
			if end := chunkSpan(s.length, s.size, c).hi; at != end {
				t.Errorf("n=%d: segments of chunk %d end at %d, want %d", s.length, c, at, end)
			}
		}
	}
}

// TestCubeSumsOnce runs the plan of recursive doubling on sets of ranks, so that a missing and a
// doubled contribution cannot cancel out. It verifies for 1 to 17 workers that each worker ends
// with every rank once, and that cube.held tells what a worker has before each edge.
func TestCubeSumsOnce(t *testing.T) {
	for p := 1; p <= 17; p++ {
		c := cube{p}
		has := make([][]int, p) // by worker: how often it holds each rank's part
		for me := range has {
			has[me] = make([]int, p)
			has[me][me] = 1
		}
		for me := range p {
			if c.extra(me) {
				has[me-1] = plus(has[me-1], has[me])
			}
		}
		for edge := range c.edges() {
			next := make([][]int, p)
			for me := range p {
				if c.extra(me) {
					continue
				}
				if want := onceEach(p, c.held(me, edge)); !slices.Equal(has[me], want) {
					t.Errorf("p=%d: before edge %d worker %d holds %v, want %v", p, edge, me, has[me], want)
				}
				next[me] = plus(has[me], has[c.partner(me, c.before()+edge)])
			}
			has = next
		}
		for me := range p {
			if want := onceEach(p, span{0, p}); !c.extra(me) && !slices.Equal(has[me], want) {
				t.Errorf("p=%d: worker %d ends with %v, want %v", p, me, has[me], want)
			}
		}
	}
}

// plus returns the sum of a and b, element by element.
func plus(a, b []int) []int {
	sum := slices.Clone(a)
	for i := range sum {
		sum[i] += b[i]
	}
	return sum
}

// onceEach returns p counts: 1 for each rank of s, 0 for the others.
func onceEach(p int, s span) []int {
	set := make([]int, p)
	for rank := s.lo; rank < s.hi; rank++ {
		set[rank] = 1
	}
	return set
}

// TestShares verifies that the shares of all corners have each element once, and that partners
// across an edge have the two halves of one share.
func TestShares(t *testing.T) {
	for edges := range 6 {
		c := cube{1 << edges}
		for n := range 3 << edges {
			owners := make([]int, n)
			for corner := range c.size {
				for i := c.share(n, corner, edges).lo; i < c.share(n, corner, edges).hi; i++ {
					owners[i]++
				}
				for e := range edges {
					whole, mine, theirs := c.share(n, corner, e), c.share(n, corner, e+1), c.share(n, corner^1<<e, e+1)
					if whole != (span{min(mine.lo, theirs.lo), max(mine.hi, theirs.hi)}) || mine.len()+theirs.len() != whole.len() {
						t.Errorf("n=%d corner %d edge %d: %v and %v are not %v", n, corner, e, mine, theirs, whole)
					}
				}
			}
			for i, times := range owners {
				if times != 1 {
					t.Errorf("p=%d n=%d: element %d is in %d shares, want 1", c.size, n, i, times)
				}
			}
		}
	}
}

// TestShardSpan verifies that shards cover the buffer without gaps, share no cache line, and
// differ by one line at most.
func TestShardSpan(t *testing.T) {
	for count := 1; count <= 17; count++ {
		for _, length := range []int{0, 1, 15, 16, 17, 16*count - 1, 16 * count, 16*count + 1, 5000, 16 * 17 * 30} {
			at, longest, shortest := 0, 0, length
			for i := range count {
				s := shardSpan(length, count, i)
				if s.lo != at || s.hi < s.lo || s.lo%16 != 0 && s.lo != length {
					t.Errorf("length=%d count=%d: shard %d is %v, want it from %d", length, count, i, s, at)
				}
				at, longest, shortest = s.hi, max(longest, s.len()), min(shortest, s.len())
			}
			if at != length || longest-shortest > 2*16 {
				t.Errorf("length=%d count=%d: shards end at %d, are %d to %d elements", length, count, at, shortest, longest)
			}
		}
	}
}
