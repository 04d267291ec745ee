package process

import (
	"fmt"
	"strings"
	"testing"
)

// TestShare verifies that ranks have equally many cores, and that at least one is for each.
func TestShare(t *testing.T) {
	tests := []struct {
		cores []int
		n     int
		want  string
	}{
		{[]int{0, 1}, 2, "[0] [1]"},
		{[]int{0, 1}, 4, "[0] [0] [1] [1]"},
		{[]int{0, 1}, 3, "[0] [0] [1]"},
		{[]int{2, 3, 6, 7, 8}, 2, "[2 3] [6 7 8]"},
		{[]int{5}, 3, "[5] [5] [5]"},
		{[]int{0, 1, 2, 3}, 1, "[0 1 2 3]"},
	}
	for _, tt := range tests {
		var got []string
		for i := range tt.n {
			got = append(got, fmt.Sprint(Share(tt.cores, i, tt.n)))
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("cores=%v/ranks=%d: shares are %s, want %s", tt.cores, tt.n, g, tt.want)
		}
	}
}
