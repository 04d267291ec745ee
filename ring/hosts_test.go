package ring_test

import (
	"fmt"
	"testing"

	"ringtrain/ring/ringtest"
)

// TestAcross fails if a rank does not know its part between hosts: the ranks
// would open links that nobody answers.
func TestAcross(t *testing.T) {
	for _, tt := range []struct {
		hosts []int
		want  [][]int // by rank: ranks of the workers it works with, its own number last
	}{
		{[]int{0, 0, 0}, [][]int{nil, nil, nil}},
		{[]int{0, 1}, [][]int{{0, 1, 0}, {0, 1, 1}}},
		{[]int{0, 0, 1, 1}, [][]int{{0, 2, 0}, {1, 3, 0}, {0, 2, 1}, {1, 3, 1}}},
		{[]int{7, 3, 3, 7}, [][]int{{0, 1, 0}, {0, 1, 1}, {3, 2, 1}, {3, 2, 0}}},
		{[]int{0, 0, 0, 1}, [][]int{{0, 3, 0}, nil, nil, {0, 3, 1}}},
		{[]int{0, 1, 1, 2, 2, 0}, [][]int{{0, 1, 3, 0}, {0, 1, 3, 1}, {5, 2, 4, 1}, {0, 1, 3, 2}, {5, 2, 4, 2}, {5, 2, 4, 0}}},
	} {
		for rank, want := range tt.want {
			sub, driver := ringtest.OnHosts(tt.hosts, rank).Across()
			var got []int
			for _, w := range sub.Workers {
				got = append(got, w.Rank)
			}
			if driver {
				got = append(got, sub.Rank)
			}
			if driver != (want != nil) || fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("hosts=%v: rank %d works with %v, driver %v, want %v", tt.hosts, rank, got, driver, want)
			}
		}
	}
}

// TestHostRanks fails if hosts or their ranks are not in order: sums would not
// repeat.
func TestHostRanks(t *testing.T) {
	got := ringtest.OnHosts([]int{9, 2, 9, 2, 5}, 3).HostRanks()
	if want := "[[0 2] [1 3] [4]]"; fmt.Sprint(got) != want {
		t.Errorf("ranks by host are %v, want %s", got, want)
	}
}
