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
		w.avx512(kind, 0, done)
	}
	if end := c &^ 7; s != Portable && done < end {
		w.avx2(kind, done, end)
		done = end
	}
	return done
}

func (w *poolWindow) avx2(kind poolKind, lo, hi int) {
	switch kind {
	case poolMax:
		maxWindowAVX2(w, lo, hi)
	case poolMaxGrad:
		maxGradAVX2(w, lo, hi)
	case poolMaxPut:
		maxPutAVX2(w, lo, hi)
	case poolMean:
		meanWindowAVX2(w, lo, hi)
	case poolMeanGrad:
		meanGradAVX2(w, lo, hi)
	}
}

func (w *poolWindow) avx512(kind poolKind, lo, hi int) {
	switch kind {
	case poolMax:
		maxWindowAVX512(w, lo, hi)
	case poolMaxGrad:
		maxGradAVX512(w, lo, hi)
	case poolMaxPut:
		maxPutAVX512(w, lo, hi)
	case poolMean:
		meanWindowAVX512(w, lo, hi)
	case poolMeanGrad:
		meanGradAVX512(w, lo, hi)
	}
}

//go:noescape
func maxWindowAVX2(w *poolWindow, lo, hi int)

//go:noescape
func maxGradAVX2(w *poolWindow, lo, hi int)

//go:noescape
func maxPutAVX2(w *poolWindow, lo, hi int)

//go:noescape
func meanWindowAVX2(w *poolWindow, lo, hi int)

//go:noescape
func meanGradAVX2(w *poolWindow, lo, hi int)

//go:noescape
func maxWindowAVX512(w *poolWindow, lo, hi int)

//go:noescape
func maxGradAVX512(w *poolWindow, lo, hi int)

//go:noescape
func maxPutAVX512(w *poolWindow, lo, hi int)

//go:noescape
func meanWindowAVX512(w *poolWindow, lo, hi int)

//go:noescape
func meanGradAVX512(w *poolWindow, lo, hi int)
