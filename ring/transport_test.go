package ring

import (
	"fmt"
	"testing"
)

// TestRoutesMatch verifies that each route has its counterpart at the other end. Otherwise a
// worker would dial a worker that does not expect it, or wait for one that does not dial.
func TestRoutesMatch(t *testing.T) {
	for p := 1; p <= 17; p++ {
		ranks := make([]int, p)
		for i := range ranks {
			ranks[i] = 100 - 3*i // ranks that differ from their indices
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

// TestRoundRoutes verifies the rounds that PROTOCOL.md describes.
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
