package process

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestReadGroups verifies which groups are left at the end of the pipe. Ids 0 and 1 would
// mean all processes, and are ignored.
func TestReadGroups(t *testing.T) {
	tests := []struct {
		name, text string
		want       []int
	}{
		{"end=good", "+10\n+11\n-10\n-11\n", nil},
		{"end=killed", "+10\n+11\n+12\n-11\n", []int{10, 12}},
		{"id=everybody", "+1\n+0\n-1\n1\n", nil},
		{"text=wrong", "x\n\n+\n+ 5\n99999999999999999999\n+7", []int{7}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := slices.Sorted(maps.Keys(readGroups(strings.NewReader(tt.text)))); !slices.Equal(got, tt.want) {
				t.Errorf("groups are %v, want %v", got, tt.want)
			}
		})
	}
}
