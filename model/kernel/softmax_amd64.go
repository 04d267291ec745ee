//go:build !noasm

package kernel

import "math"

// laneMask has 16 words of ones followed by 16 words of zeros, laneNumber the indices of
// the lanes, and laneBottom −Inf.
var (
	//lint:ignore U1000 the assembly reads it
	laneMask = [2 * lanes]uint32{
		^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0),
		^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0), ^uint32(0),
	}
	//lint:ignore U1000 the assembly reads it
	laneNumber = [lanes]float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	//lint:ignore U1000 the assembly reads it
	laneBottom = float32(math.Inf(-1))
)

// softmaxArgs has rows of k elements, 1 to 16.
type softmaxArgs struct {
	p, z    *float32
	y       *float32 // class of the first row
	step    int      // bytes from one class to the next
	out     *softmaxSums
	rows, k int
}

// fewClasses does the same as fewClassesRef, in three steps over all rows, because the
// steps of one row depend on each other. There are no AVX-512 kernels, because a row is
// short.
func fewClasses(s Set, p, z, y []float32, out []softmaxSums, k int) {
	if s == Portable || len(out) == 0 {
		fewClassesRef(p, z, y, out, k)
		return
	}
	none := float32(-1)
	a := softmaxArgs{p: &p[0], z: &z[0], y: &none, out: &out[0], rows: len(out), k: k}
	if y != nil {
		a.y, a.step = &y[0], 4
	}
	shiftRowsAVX2(&a)
	opExp.apply(s, p, p, p, 0)
	shareRowsAVX2(&a)
}

// shiftRowsAVX2 writes z less the largest of each row to p.
//
//go:noescape
func shiftRowsAVX2(a *softmaxArgs)

// shareRowsAVX2 divides the exponentials in p by the sum of each row.
//
//go:noescape
func shareRowsAVX2(a *softmaxArgs)
