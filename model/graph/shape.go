package graph

import (
	"math"
	"strconv"
	"strings"
)

// Shape is the shape of one example: [784], or for an image [28, 28, 1] (height, width,
// channels).
type Shape []int

// Len returns the number of elements, at most math.MaxInt.
func (s Shape) Len() int {
	n := 1
	for _, d := range s {
		n = product(n, d)
	}
	return n
}

// product returns a·b for a, b ≥ 0, at most math.MaxInt.
func product(a, b int) int {
	if a > 0 && b > math.MaxInt/a {
		return math.MaxInt
	}
	return a * b
}

// sum returns a+b for a, b ≥ 0, at most math.MaxInt.
func sum(a, b int) int {
	if b > math.MaxInt-a {
		return math.MaxInt
	}
	return a + b
}

// String returns the shape in the form 28×28×1.
func (s Shape) String() string {
	dims := make([]string, len(s))
	for i, d := range s {
		dims[i] = strconv.Itoa(d)
	}
	return strings.Join(dims, "×")
}

// IsImage reports whether s is height, width and channels.
func (s Shape) IsImage() bool { return len(s) == 3 }
