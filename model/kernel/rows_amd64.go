//go:build !noasm

package kernel

// dropBits has the constants of a dropout in rows_wide_amd64.h: 16 units, the factors of
// hash, the sign bit, and both widths of vectors.
//
//lint:ignore U1000 the assembly reads it
var dropBits = [...]uint32{
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
	0x9e3779b1, 0x85ebca6b, 0xc2b2ae35, 1 << 31, 8, 16,
}

// whole returns the number of the first elements that fill vectors of s. wide reports
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

// groupSum returns the sum of whole groups of lanes.
func groupSum(s Set, x []float32) float32 {
	if s == Portable {
		return groupSumRef(x)
	}
	return groupSumAVX2(&x[0], len(x))
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

//go:noescape
func groupSumAVX2(x *float32, n int) float32

//go:noescape
func dropAVX2(dst, src *float32, n int, k *dropKey)

//go:noescape
func dropAddAVX2(dst, src *float32, n int, k *dropKey)

//go:noescape
func dropAVX512(dst, src *float32, n int, k *dropKey)

//go:noescape
func dropAddAVX512(dst, src *float32, n int, k *dropKey)
