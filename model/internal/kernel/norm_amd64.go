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
func (t *normRows) forwardRows(lo, hi int) bool {
	if t.set == Portable || lo == hi {
		return false
	}
	width := len(t.n.Gamma)
	normForwardAVX2(&normArgs{
		x: &t.x[lo*width], y: &t.y[lo*width], gamma: &t.n.Gamma[0], beta: &t.n.Beta[0],
		mean: &t.n.Mean[lo], inv: &t.n.Inv[lo], rows: hi - lo, width: width, epsilon: t.n.Epsilon,
	})
	return true
}

// backwardRows computes rows lo to hi of a block with these sums by assembly, if the set
// has it.
func (t *normRows) backwardRows(sums []float32, lo, hi int) bool {
	if t.set == Portable || lo == hi {
		return false
	}
	width := len(t.n.Gamma)
	a := normArgs{
		x: &t.x[lo*width], dy: &t.dy[lo*width], gamma: &t.n.Gamma[0], dGamma: &sums[0], dBeta: &sums[width],
		mean: &t.n.Mean[lo], inv: &t.n.Inv[lo], rows: hi - lo, width: width, add: t.add,
	}
	if t.dx != nil {
		a.dx = &t.dx[lo*width]
	}
	normBackwardAVX2(&a)
	return true
}

//go:noescape
func normForwardAVX2(a *normArgs)

//go:noescape
func normBackwardAVX2(a *normArgs)
