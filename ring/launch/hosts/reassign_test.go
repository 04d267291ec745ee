package hosts

import (
	"slices"
	"testing"
)

// TestReassign verifies that ranks return to their own host or take free slots, and that
// other ranks keep theirs.
func TestReassign(t *testing.T) {
	hosts := []Host{{Name: "a", Slots: 4}, {Name: "b", Slots: 2}, {Name: "c", Slots: 2}}
	at := func(rank, host, local, of int) Assignment { return Assignment{rank, host, local, of} }
	for _, tt := range []struct {
		name    string
		seats   []Assignment
		list    []int
		closed  []int // hosts
		want    []Assignment
		without int
	}{
		{"own=open", []Assignment{at(0, 0, 0, 1), at(1, 1, 0, 2), at(2, 1, 1, 2)}, []int{1, 2}, nil, []Assignment{at(1, 1, 0, 2), at(2, 1, 1, 2)}, 0},
		{"own=closed", []Assignment{at(0, 0, 0, 1), at(1, 1, 0, 2), at(2, 1, 1, 2)}, []int{1, 2}, []int{1}, []Assignment{at(1, 0, 1, 3), at(2, 0, 2, 3)}, 0},
		{"own=first", []Assignment{at(0, 1, 0, 1), at(1, 2, 0, 2), at(2, 2, 1, 2)}, []int{0, 1, 2}, []int{0, 1}, []Assignment{at(1, 2, 0, 2), at(2, 2, 1, 2)}, 1},
		{"local=a gap", []Assignment{at(0, 0, 0, 4), at(1, 0, 3, 4), at(2, 1, 0, 1)}, []int{2}, []int{1}, []Assignment{at(2, 0, 1, 4)}, 0},
		{"open=none", []Assignment{at(0, 1, 0, 1)}, []int{0}, []int{0, 1, 2}, nil, 1},
	} {
		got, without := Reassign(tt.seats, hosts, tt.list, func(h int) bool { return !slices.Contains(tt.closed, h) })
		if !slices.Equal(got, tt.want) || without != tt.without {
			t.Errorf("%s: %v and %d without, want %v and %d", tt.name, got, without, tt.want, tt.without)
		}
	}
}
