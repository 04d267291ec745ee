package ring_test

import (
	"fmt"
	"testing"

	"ringtrain/ring/ringtest"
)

// TestAcross verifies with which workers each driver exchanges data between hosts.
func TestAcross(t *testing.T) {
	for _, tt := range []struct {
		hosts []int
		want  [][]int // by rank: ranks of the workers of Across, then the rank's own number among them
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
				t.Errorf("hosts=%v: rank %d exchanges data with %v, driver %v, want %v", tt.hosts, rank, got, driver, want)
			}
		}
	}
}

// TestHostRanks verifies that hosts come in order of their lowest ranks and ranks in ascending
// order.
func TestHostRanks(t *testing.T) {
	got := ringtest.OnHosts([]int{9, 2, 9, 2, 5}, 3).HostRanks()
	if want := "[[0 2] [1 3] [4]]"; fmt.Sprint(got) != want {
		t.Errorf("ranks by host are %v, want %s", got, want)
	}
}
