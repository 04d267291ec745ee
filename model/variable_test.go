package model

import "testing"

// TestRowLen verifies the number of elements of a row.
func TestRowLen(t *testing.T) {
	for _, tt := range []struct {
		shape     []int
		len, want int
	}{{nil, 1, 0}, {[]int{0}, 0, 0}, {[]int{0, 3}, 0, 0}, {[]int{5}, 5, 1}, {[]int{4, 3}, 12, 3}, {[]int{4, 3, 2}, 24, 6}} {
		v := Variable{Shape: tt.shape}
		if v.Len() != tt.len || v.RowLen() != tt.want {
			t.Errorf("shape %v: %d elements, %d a row, want %d and %d", tt.shape, v.Len(), v.RowLen(), tt.len, tt.want)
		}
	}
}
