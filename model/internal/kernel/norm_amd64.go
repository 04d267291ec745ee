//go:build !noasm

package kernel

// normArgs are rows whose width is a multiple of lanes.
type normArgs struct {
	x, y        *float32 // y is nil or the gradient of x, backward
	dy          *float32
	gamma, beta *float32 // beta is the sum for it, backward
	dGamma      *float32
	mean, inv   *float32
	rows, width int
	epsilon     float32
	add         bool
}

// forwardRows does rows lo to hi, if assembly can: widths of whole groups of lanes.
// Rows are often short, so that AVX-512 has no kernels of its own.
func (t *normRows) forwardRows(lo, hi int) bool {
	width := len(t.n.Gamma)
	if t.set == Portable || width%lanes != 0 || lo == hi {
		return false
	}
	normForwardAVX2(&normArgs{
		x: &t.x[lo*width], y: &t.y[lo*width], gamma: &t.n.Gamma[0], beta: &t.n.Beta[0],
		mean: &t.n.Mean[lo], inv: &t.n.Inv[lo], rows: hi - lo, width: width, epsilon: t.n.Epsilon,
	})
	return true
}

// backwardRows does rows lo to hi of a block with these sums, if assembly can.
func (t *normRows) backwardRows(sums []float32, lo, hi int) bool {
	width := len(t.n.Gamma)
	if t.set == Portable || width%lanes != 0 || lo == hi {
		return false
	}
	a := normArgs{
		x: &t.x[lo*width], dy: &t.dy[lo*width], gamma: &t.n.Gamma[0], dGamma: &sums[0], beta: &sums[width],
		mean: &t.n.Mean[lo], inv: &t.n.Inv[lo], rows: hi - lo, width: width, add: t.add,
	}
	if t.dx != nil {
		a.y = &t.dx[lo*width]
	}
	normBackwardAVX2(&a)
	return true
}

//go:noescape
func normForwardAVX2(a *normArgs)

//go:noescape
func normBackwardAVX2(a *normArgs)
