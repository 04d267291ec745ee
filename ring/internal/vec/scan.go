package vec

import "math"

const (
	signBit  = 1 << 31
	absMask  = signBit - 1
	oneExp   = 1 << 23    // bits of a float32: one in the exponent
	infinity = 0xff << 23 // bits of a float32: +Inf
)

// AbsMax returns the largest |src[i]|, or 0 for an empty slice. With an infinity it returns
// +Inf, and with a NaN it returns a NaN: bit patterns are ordered like the numbers, with NaNs
// above infinities.
func AbsMax(src []float32) float32 {
	var m uint32
	n := bulk(len(src))
	if n > 0 {
		m = absMaxAVX2(&src[0], n)
	}
	return math.Float32frombits(max(m, absMax(src[n:])))
}

// Finite reports whether src has neither a NaN nor an infinity.
func Finite(src []float32) bool {
	n := bulk(len(src))
	if n > 0 && !finiteAVX2(&src[0], n) {
		return false
	}
	return finite(src[n:])
}

func absMax(src []float32) uint32 {
	var m0, m1, m2, m3 uint32 // four, so that comparisons do not depend on each other
	for len(src) >= 4 {
		m0 = max(m0, math.Float32bits(src[0])&absMask)
		m1 = max(m1, math.Float32bits(src[1])&absMask)
		m2 = max(m2, math.Float32bits(src[2])&absMask)
		m3 = max(m3, math.Float32bits(src[3])&absMask)
		src = src[4:]
	}
	for _, v := range src {
		m0 = max(m0, math.Float32bits(v)&absMask)
	}
	return max(m0, m1, m2, m3)
}

func finite(src []float32) bool {
	// Adding one to the exponent carries into the sign bit if and only if all bits of
	// the exponent are set.
	var c0, c1, c2, c3 uint32
	for len(src) >= 4 {
		c0 |= math.Float32bits(src[0])&absMask + oneExp
		c1 |= math.Float32bits(src[1])&absMask + oneExp
		c2 |= math.Float32bits(src[2])&absMask + oneExp
		c3 |= math.Float32bits(src[3])&absMask + oneExp
		src = src[4:]
	}
	for _, v := range src {
		c0 |= math.Float32bits(v)&absMask + oneExp
	}
	return (c0|c1|c2|c3)&signBit == 0
}
