//go:build !noasm

package kernel

// normArgs has rows of an Engine's normRows, forward or backward.
type normArgs struct {
	x, gamma, beta, y     *float32 // forward writes y
	dy, dx, dGamma, dBeta *float32 // backward adds to dGamma and dBeta; dx may be nil
	mean, inv             *float32 // of each row
	rows, width           int      // more than 0
	epsilon               float32
	add                   bool // backward adds to dx
}

// forwardRows computes rows lo to hi by assembly, if the set has it. There are no
// AVX-512 kernels, because rows are often short.
func (r *normRows) forwardRows(lo, hi int) bool {
	if r.set == Portable || lo == hi {
		return false
	}
	width := len(r.n.Gamma)
	normForwardAVX2(&normArgs{
		x: &r.x[lo*width], y: &r.y[lo*width], gamma: &r.n.Gamma[0], beta: &r.n.Beta[0],
		mean: &r.n.Mean[lo], inv: &r.n.Inv[lo], rows: hi - lo, width: width, epsilon: r.n.Epsilon,
	})
	return true
}

// backwardRows computes rows lo to hi of a block with these sums by assembly, if the set
// has it.
func (r *normRows) backwardRows(sums []float32, lo, hi int) bool {
	if r.set == Portable || lo == hi {
		return false
	}
	width := len(r.n.Gamma)
	a := normArgs{
		x: &r.x[lo*width], dy: &r.dy[lo*width], gamma: &r.n.Gamma[0], dGamma: &sums[0], dBeta: &sums[width],
		mean: &r.n.Mean[lo], inv: &r.n.Inv[lo], rows: hi - lo, width: width, add: r.add,
	}
	if r.dx != nil {
		a.dx = &r.dx[lo*width]
	}
	normBackwardAVX2(&a)
	return true
}

//go:noescape
func normForwardAVX2(a *normArgs)

//go:noescape
func normBackwardAVX2(a *normArgs)
