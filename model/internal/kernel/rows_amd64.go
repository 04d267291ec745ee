//go:build !noasm

package kernel

// dropBits are the constants of a dropout in rows_wide_amd64.h: 16 units, the
// factors of hash, the sign bit, and both widths of vectors.
var dropBits = [...]uint32{
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	0x9e3779b1, 0x85ebca6b, 0xc2b2ae35, 1 << 31, 8, 16,
}

// normArgs are the arguments of normSums.
type normArgs struct {
	dGamma, dBeta, g, gh, x, dy, gamma *float32
	n                                  int
	mean, inv                          float32
}

// whole is the number of the first n elements that fill vectors of s, and tells
// whether these are vectors of 16.
func (s Set) whole(n int) (whole int, wide bool) {
	switch {
	case s == Portable:
		return 0, false
	case s == AVX512 && n >= 16:
		return n &^ 15, true
	}
	return n &^ 7, false
}

// groupSum is the sum of whole groups of lanes.
func groupSum(s Set, x []float32) float32 {
	if s == Portable {
		return groupSumRef(x)
	}
	return groupSumAVX2(&x[0], len(x))
}

// groupSquares is the sum of the squares of whole groups of lanes.
func groupSquares(s Set, x []float32, mean float32) float32 {
	if s == Portable {
		return groupSquaresRef(x, mean)
	}
	return groupSquaresAVX2(&x[0], len(x), mean)
}

func dropSpan(s Set, dst, src []float32, k *dropKey, add bool) {
	n, wide := s.whole(len(src))
	switch {
	case n == 0:
	case wide && add:
		dropAddAVX512(&dst[0], &src[0], n, k)
	case wide:
		dropAVX512(&dst[0], &src[0], n, k)
	case add:
		dropAddAVX2(&dst[0], &src[0], n, k)
	default:
		dropAVX2(&dst[0], &src[0], n, k)
	}
	dropRef(dst[n:], src[n:], n, k, add)
}

func norm(s Set, y, x, gamma, beta []float32, mean, inv float32) {
	n, wide := s.whole(len(x))
	switch {
	case n == 0:
	case wide:
		normAVX512(&y[0], &x[0], &gamma[0], &beta[0], n, mean, inv)
	default:
		normAVX2(&y[0], &x[0], &gamma[0], &beta[0], n, mean, inv)
	}
	normRef(y[n:], x[n:], gamma[n:], beta[n:], mean, inv)
}

func normSums(s Set, dGamma, dBeta, g, gh, x, dy, gamma []float32, mean, inv float32) {
	n, wide := s.whole(len(x))
	if n > 0 {
		a := normArgs{&dGamma[0], &dBeta[0], &g[0], &gh[0], &x[0], &dy[0], &gamma[0], n, mean, inv}
		if wide {
			normSumsAVX512(&a)
		} else {
			normSumsAVX2(&a)
		}
	}
	normSumsRef(dGamma[n:], dBeta[n:], g[n:], gh[n:], x[n:], dy[n:], gamma[n:], mean, inv)
}

func normGrad(s Set, dx, g, x []float32, mean, inv, first, second float32) {
	n, wide := s.whole(len(x))
	switch {
	case n == 0:
	case wide:
		normGradAVX512(&dx[0], &g[0], &x[0], n, mean, inv, first, second)
	default:
		normGradAVX2(&dx[0], &g[0], &x[0], n, mean, inv, first, second)
	}
	normGradRef(dx[n:], g[n:], x[n:], mean, inv, first, second)
}

//go:noescape
func groupSumAVX2(x *float32, n int) float32

//go:noescape
func groupSquaresAVX2(x *float32, n int, mean float32) float32

//go:noescape
func dropAVX2(dst, src *float32, n int, k *dropKey)

//go:noescape
func dropAddAVX2(dst, src *float32, n int, k *dropKey)

//go:noescape
func normAVX2(y, x, gamma, beta *float32, n int, mean, inv float32)

//go:noescape
func normSumsAVX2(a *normArgs)

//go:noescape
func normGradAVX2(dx, slope, x *float32, n int, mean, inv, first, second float32)

//go:noescape
func dropAVX512(dst, src *float32, n int, k *dropKey)

//go:noescape
func dropAddAVX512(dst, src *float32, n int, k *dropKey)

//go:noescape
func normAVX512(y, x, gamma, beta *float32, n int, mean, inv float32)

//go:noescape
func normSumsAVX512(a *normArgs)

//go:noescape
func normGradAVX512(dx, slope, x *float32, n int, mean, inv, first, second float32)
