package launch

import (
	"testing"

	"ringtrain/ring/launch/hosts"
)

// TestBindingText verifies the line about the cores of each rank.
func TestBindingText(t *testing.T) {
	together := []hosts.Assignment{{Rank: 4, LocalRank: 0, LocalSize: 2}, {Rank: 5, LocalRank: 1, LocalSize: 2}}
	later := []hosts.Assignment{{Rank: 4, LocalRank: 0, LocalSize: 1}, {Rank: 5, LocalRank: 1, LocalSize: 2}} // rank 5 came from a lost host
	fewer := []hosts.Assignment{{Rank: 4, LocalRank: 0, LocalSize: 4}, {Rank: 5, LocalRank: 3, LocalSize: 4}} // two ranks have gone
	tests := []struct {
		seats []hosts.Assignment
		cores []int
		want  string
	}{
		{together, []int{0}, "2 ranks on b, 0.5 cores each: rank 4 on core 0, rank 5 on core 0"},
		{together, []int{0, 1, 2, 3}, "2 ranks on b, 2 cores each: rank 4 on cores 0-1, rank 5 on cores 2-3"},
		{together, []int{0, 2, 4, 7}, "2 ranks on b, 2 cores each: rank 4 on cores 0,2, rank 5 on cores 4,7"},
		{later, []int{0, 1, 2, 3}, "2 ranks on b: rank 4 on cores 0-3, rank 5 on cores 2-3"},
		{fewer, []int{0, 1, 2, 3}, "2 ranks on b, 1 core each: rank 4 on core 0, rank 5 on core 3"},
		{together, nil, "2 ranks on b: cores are not known there, ranks are not bound"},
	}
	for _, tt := range tests {
		if got := bindingText("b", tt.seats, tt.cores); got != tt.want {
			t.Errorf("cores=%v: line is %q, want %q", tt.cores, got, tt.want)
		}
	}
}
