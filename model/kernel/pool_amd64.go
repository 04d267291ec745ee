//go:build !noasm

package kernel

import "math"

// poolOne and poolMinusZero are constants of pool_wide_amd64.h.
var (
	//lint:ignore U1000 the assembly reads it
	poolOne int32 = 1
	//lint:ignore U1000 the assembly reads it
	poolMinusZero = float32(math.Copysign(0, -1))
)

// assembly computes whole vectors of channels and returns their number. Vectors of 8
// compute the remainder of vectors of 16; the bits are the same.
func (w *poolWindow) assembly(s Set, kind poolKind) int {
	c, done := len(w.y), 0
	if s == AVX512 && c >= 16 {
		done = c &^ 15
		poolAVX512(w, 0, done, kind)
	}
	if end := c &^ 7; s != Portable && done < end {
		poolAVX2(w, done, end, kind)
		done = end
	}
	return done
}

//go:noescape
func poolAVX2(w *poolWindow, lo, hi int, kind poolKind)

//go:noescape
func poolAVX512(w *poolWindow, lo, hi int, kind poolKind)
