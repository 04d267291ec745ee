package graph

import (
	"math"
	"strconv"
	"strings"
)

// Shape is the shape of one example: [784], or [28, 28, 1] of an image (height, width,
// channels).
type Shape []int

// Len returns the number of elements, or math.MaxInt where there are more than that.
func (s Shape) Len() int {
	n := 1
	for _, d := range s {
		n = product(n, d)
	}
	return n
}

// product is a·b of numbers that are 0 or more, at most math.MaxInt.
func product(a, b int) int {
	if a > 0 && b > math.MaxInt/a {
		return math.MaxInt
	}
	return a * b
}

// sum is a+b of numbers that are 0 or more, at most math.MaxInt.
func sum(a, b int) int {
	if b > math.MaxInt-a {
		return math.MaxInt
	}
	return a + b
}

// String is the shape as people write it: 28×28×1.
func (s Shape) String() string {
	dims := make([]string, len(s))
	for i, d := range s {
		dims[i] = strconv.Itoa(d)
	}
	return strings.Join(dims, "×")
}

// IsImage reports whether s is height, width and channels.
func (s Shape) IsImage() bool { return len(s) == 3 }
