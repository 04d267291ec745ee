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
		o.avx512(&dst[0], &a[0], &b[0], n, x)
	}
	if rest := (len(dst) - n) &^ 7; s != Portable && rest > 0 {
		o.avx2(&dst[n], &a[n], &b[n], rest, x)
		n += rest
	}
	return n
}

func (o op) avx2(dst, a, b *float32, n int, x float32) {
	switch o {
	case opAdd:
		addAVX2(dst, a, b, n, x)
	case opMultiply:
		multiplyAVX2(dst, a, b, n, x)
	case opAxpy:
		axpyAVX2(dst, a, b, n, x)
	case opScale:
		scaleAVX2(dst, a, b, n, x)
	case opDivide:
		divideAVX2(dst, a, b, n, x)
	case opAddQuotient:
		addQuotientAVX2(dst, a, b, n, x)
	case opShift:
		shiftAVX2(dst, a, b, n, x)
	case opClamp:
		clampAVX2(dst, a, b, n, x)
	case opAverage:
		averageAVX2(dst, a, b, n, x)
	case opExp:
		expAVX2(dst, a, b, n, x)
	case opLog:
		logAVX2(dst, a, b, n, x)
	case opTanh:
		tanhAVX2(dst, a, b, n, x)
	case opTanhGrad:
		tanhGradAVX2(dst, a, b, n, x)
	case opSigmoid:
		sigmoidAVX2(dst, a, b, n, x)
	case opSigmoidGrad:
		sigmoidGradAVX2(dst, a, b, n, x)
	case opGELU:
		geluAVX2(dst, a, b, n, x)
	case opGELUGrad:
		geluGradAVX2(dst, a, b, n, x)
	case opReLU:
		reluAVX2(dst, a, b, n, x)
	case opReLUGrad:
		reluGradAVX2(dst, a, b, n, x)
	case opLeakyReLU:
		leakyReLUAVX2(dst, a, b, n, x)
	case opLeakyReLUGrad:
		leakyReLUGradAVX2(dst, a, b, n, x)
	}
}

func (o op) avx512(dst, a, b *float32, n int, x float32) {
	switch o {
	case opAdd:
		addAVX512(dst, a, b, n, x)
	case opMultiply:
		multiplyAVX512(dst, a, b, n, x)
	case opAxpy:
		axpyAVX512(dst, a, b, n, x)
	case opScale:
		scaleAVX512(dst, a, b, n, x)
	case opDivide:
		divideAVX512(dst, a, b, n, x)
	case opAddQuotient:
		addQuotientAVX512(dst, a, b, n, x)
	case opShift:
		shiftAVX512(dst, a, b, n, x)
	case opClamp:
		clampAVX512(dst, a, b, n, x)
	case opAverage:
		averageAVX512(dst, a, b, n, x)
	case opExp:
		expAVX512(dst, a, b, n, x)
	case opLog:
		logAVX512(dst, a, b, n, x)
	case opTanh:
		tanhAVX512(dst, a, b, n, x)
	case opTanhGrad:
		tanhGradAVX512(dst, a, b, n, x)
	case opSigmoid:
		sigmoidAVX512(dst, a, b, n, x)
	case opSigmoidGrad:
		sigmoidGradAVX512(dst, a, b, n, x)
	case opGELU:
		geluAVX512(dst, a, b, n, x)
	case opGELUGrad:
		geluGradAVX512(dst, a, b, n, x)
	case opReLU:
		reluAVX512(dst, a, b, n, x)
	case opReLUGrad:
		reluGradAVX512(dst, a, b, n, x)
	case opLeakyReLU:
		leakyReLUAVX512(dst, a, b, n, x)
	case opLeakyReLUGrad:
		leakyReLUGradAVX512(dst, a, b, n, x)
	}
}
