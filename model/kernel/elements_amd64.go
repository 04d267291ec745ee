//go:build !noasm

package kernel

import "math"

// elementBits has the constants of elements_wide_amd64.h, in its order.
//
//lint:ignore U1000 the assembly reads it
var elementBits = [...]uint32{
	1 << 31,
	math.Float32bits(1),
	math.Float32bits(expTop),
	math.Float32bits(expBottom),
	math.Float32bits(log2E),
	math.Float32bits(rounder),
	math.Float32bits(ln2High),
	math.Float32bits(ln2Low),
	math.Float32bits(tanhSplit),
	math.Float32bits(erfSplit),
	math.Float32bits(erfTop),
	math.Float32bits(0.5),
	math.Float32bits(rootHalf),
	math.Float32bits(normalScale),
	math.Float32bits(leastNormal),
	math.Float32bits(0x1p23),
	math.Float32bits(-23),
	rootHalfBits,
	0x7fffff,
	0xff800000, // −Inf
	0x7fc00000, // NaN
	0x7f800000, // +Inf
	math.Float32bits(2),
}

// assembly computes whole vectors of dst and returns the number of their elements.
// Vectors of 8 compute the remainder of vectors of 16; the bits are the same.
func (o op) assembly(s Set, dst, a, b []float32, x float32) int {
	n := 0
	if s == AVX512 && len(dst) >= 16 {
		n = len(dst) &^ 15
		elementsAVX512(&dst[0], &a[0], &b[0], n, x, o)
	}
	if rest := (len(dst) - n) &^ 7; s != Portable && rest > 0 {
		elementsAVX2(&dst[n], &a[n], &b[n], rest, x, o)
		n += rest
	}
	return n
}

// The assembly of elements_wide_amd64.h computes the same as the portable body of o. n is a positive
// multiple of the width of a vector.

//go:noescape
func elementsAVX2(dst, a, b *float32, n int, x float32, o op)

//go:noescape
func elementsAVX512(dst, a, b *float32, n int, x float32, o op)
