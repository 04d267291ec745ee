package ring

import (
	"fmt"
	"slices"
	"testing"
)

// TestRoutesMatch fails if a route lacks its counterpart: a worker would dial
// one that does not expect it, or wait for one that does not come.
func TestRoutesMatch(t *testing.T) {
	for p := 1; p <= 17; p++ {
		ranks := make([]int, p)
		for i := range ranks {
			ranks[i] = 100 - 3*i // real ranks are not indices
		}
		type end struct{ from, to, stream int }
		dialed, expected := map[end]int{}, map[end]int{}
		for me, rank := range ranks {
			routes := append(RoundRoutes(ranks, me, StreamRounds), RingRoute(ranks, me, StreamRing))
			for _, r := range routes {
				if r.To >= 0 {
					dialed[end{rank, r.To, int(r.Stream)}]++
				}
				if r.From >= 0 {
					expected[end{r.From, rank, int(r.Stream)}]++
				}
			}
		}
		if fmt.Sprint(dialed) != fmt.Sprint(expected) {
			t.Errorf("p=%d: dialed %v, expected %v", p, dialed, expected)
		}
		for e, n := range dialed {
			if n != 1 || e.from == e.to {
				t.Errorf("p=%d: route %v is there %d times, want once, between two workers", p, e, n)
			}
		}
	}
}

// TestRoundRoutes fails if a worker's rounds are not those that PROTOCOL.md
// describes: workers of two versions would not meet.
func TestRoundRoutes(t *testing.T) {
	tests := []struct {
		p, me int
		want  []int // partner by round
	}{
		{1, 0, []int{}},
		{2, 1, []int{0}},
		{3, 0, []int{1, 2}},
		{3, 1, []int{0, -1}},
		{3, 2, []int{-1, 0}},
		{4, 2, []int{3, 0}},
		{6, 0, []int{1, 2, 4}},
		{6, 3, []int{2, -1, -1}},
		{6, 5, []int{-1, 4, 2}},
		{8, 5, []int{4, 7, 1}},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("p=%d/me=%d", tt.p, tt.me), func(t *testing.T) {
			ranks := make([]int, tt.p)
			for i := range ranks {
				ranks[i] = i
			}
			got := []int{}
			for k, r := range RoundRoutes(ranks, tt.me, StreamRounds) {
				if r.To != r.From || int(r.Stream) != 1+k {
					t.Errorf("round %d is %+v, want one partner and stream %d", k, r, 1+k)
				}
				got = append(got, r.To)
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("partners %v, want %v", got, tt.want)
			}
		})
	}
}

// TestCubeSumsOnce runs the plan of doubling on sets of ranks, so that a missing
// and a doubled contribution cannot cancel out, for every world size from 1 to
// 17. It fails if a worker ends with anything but every rank once, or if what it
// holds before an edge is not what held says.
func TestCubeSumsOnce(t *testing.T) {
	for p := 1; p <= 17; p++ {
		c := cube{p}
		has := make([][]int, p) // how often each rank is in what a worker holds
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

func plus(a, b []int) []int {
	sum := slices.Clone(a)
	for i := range sum {
		sum[i] += b[i]
	}
	return sum
}

// onceEach has a one for each of the ranks of s, among p.
func onceEach(p int, s span) []int {
	set := make([]int, p)
	for rank := s.lo; rank < s.hi; rank++ {
		set[rank] = 1
	}
	return set
}

// TestShares fails if the shares of all corners are not the whole, each element
// once, or if partners across an edge do not have the halves of one share.
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
