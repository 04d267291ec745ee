package kernel

import "math"

// Norm describes a layer normalization over the last axis: rows of width elements, each
// normalized separately. Mean and Inv have one element per row; LayerNorm writes them
// and LayerNormGrad reads them.
type Norm struct {
	Gamma, Beta []float32 // [width]
	Mean, Inv   []float32 // [rows]
	Epsilon     float32   // added to the variance; Keras has 1e-3
}

// normRows is the task of a layer normalization.
type normRows struct {
	set      Set
	n        Norm
	y, x, dy []float32
	dx, sums []float32   // gradient of x; sums for gamma and beta by block
	scratch  [][]float32 // per thread: two rows and the row to add
	add      bool
	gradient bool
}

// LayerNorm computes, for each row of x:
//
//	mean = Σ x / width      inv = 1/√(Σ (x−mean)²/width + ε)
//	y = (x−mean)·inv·gamma + beta
//
// The sums have the order of laneSum. y may be x if the gradient does not need x.
func (e *Engine) LayerNorm(y, x []float32, n Norm) {
	n.mustFit(len(x), len(y))
	t := &e.normRows
	t.set, t.n, t.y, t.x, t.gradient = e.set, n, y, x, false
	e.Run(len(n.Mean), 1+elementGrain/(4*len(n.Gamma)), t)
}

// LayerNormGrad writes the gradient of x to dx, or adds it, and those of gamma and
// beta to dGamma and dBeta, or adds them if addVars is true. dx may be nil. The
// sums over rows have the order of SumRows.
func (e *Engine) LayerNormGrad(dx, dGamma, dBeta, dy, x []float32, n Norm, add, addVars bool) {
	n.mustFit(len(x), len(dy))
	width, rows := len(n.Gamma), len(n.Mean)
	if dx != nil && len(dx) != len(x) || len(dGamma) != width || len(dBeta) != width {
		panic("kernel: LayerNormGrad: length does not match shape")
	}
	t := &e.normRows
	blocks := max(1, (rows+sumBlock-1)/sumBlock)
	sums := e.partial(2*blocks*width + 2*width)
	t.set, t.n, t.x, t.dy, t.dx, t.add, t.gradient = e.set, n, x, dy, dx, add, true
	t.sums = sums[:2*blocks*width]
	t.room(e.Threads(), 3*width)
	clear(t.sums)
	e.Run(blocks, 1+elementGrain/(4*sumBlock*width), t)
	both := sums[2*blocks*width:]
	e.addBlocks(both, t.sums, blocks, false)
	for i, dst := range [2][]float32{dGamma, dBeta} {
		if addVars {
			opAdd.apply(e.set, dst, dst, both[i*width:(i+1)*width], 0)
		} else {
			copy(dst, both[i*width:])
		}
	}
}

func (n *Norm) mustFit(x, y int) {
	width, rows := len(n.Gamma), len(n.Mean)
	if width == 0 || len(n.Beta) != width || len(n.Inv) != rows || x != rows*width || y != x {
		panic("kernel: LayerNorm: length does not match shape")
	}
}

// room allocates n elements of scratch memory for each thread.
func (r *normRows) room(threads, n int) {
	if len(r.scratch) == threads && len(r.scratch[0]) >= n {
		return
	}
	r.scratch = make([][]float32, threads)
	for i := range r.scratch {
		r.scratch[i] = make([]float32, n)
	}
}

// Span computes rows lo to hi or, backward, blocks lo to hi.
func (r *normRows) Span(lo, hi, thread int) {
	width := len(r.n.Gamma)
	if !r.gradient {
		if r.forwardRows(lo, hi) {
			return
		}
		for i := lo; i < hi; i++ {
			r.forward(r.y[i*width:(i+1)*width], r.x[i*width:(i+1)*width], i)
		}
		return
	}
	for b := lo; b < hi; b++ {
		sums := r.sums[2*b*width : 2*(b+1)*width]
		first, end := b*sumBlock, min((b+1)*sumBlock, len(r.n.Mean))
		if r.backwardRows(sums, first, end) {
			continue
		}
		for i := first; i < end; i++ {
			r.backward(sums, i, r.scratch[thread])
		}
	}
}

func (r *normRows) forward(y, x []float32, i int) {
	width := float32(len(x))
	mean := laneSum(r.set, x) / width
	variance := laneSquares(x, mean) / width
	inv := 1 / root(variance+r.n.Epsilon)
	r.n.Mean[i], r.n.Inv[i] = mean, inv
	normRef(y, x, r.n.Gamma, r.n.Beta, mean, inv)
}

func normRef(y, x, gamma, beta []float32, mean, inv float32) {
	gamma, beta, y = gamma[:len(x)], beta[:len(x)], y[:len(x)]
	for j, v := range x {
		y[j] = float32(float32((v-mean)*inv)*gamma[j]) + beta[j]
	}
}

// backward computes, with h = (x−mean)·inv and g = dy·gamma,
//
//	dx = inv·(g − Σg/width − h·(Σ g·h)/width)
//
// and adds dy·h and dy to the sums of the block.
func (r *normRows) backward(sums []float32, i int, scratch []float32) {
	width := len(r.n.Gamma)
	x, dy := r.x[i*width:(i+1)*width], r.dy[i*width:(i+1)*width]
	g, gh, dx := scratch[:width], scratch[width:2*width], scratch[2*width:3*width]
	mean, inv := r.n.Mean[i], r.n.Inv[i]
	normSumsRef(sums[:width], sums[width:], g, gh, x, dy, r.n.Gamma, mean, inv)
	if r.dx == nil {
		return
	}
	dst := r.dx[i*width : (i+1)*width]
	if !r.add {
		dx = dst
	}
	first, second := laneSum(r.set, g)/float32(width), laneSum(r.set, gh)/float32(width)
	normGradRef(dx, g, x, mean, inv, first, second)
	if r.add {
		opAdd.apply(r.set, dst, dst, dx, 0)
	}
}

func normSumsRef(dGamma, dBeta, g, gh, x, dy, gamma []float32, mean, inv float32) {
	for j, d := range dy {
		h := float32((x[j] - mean) * inv)
		dGamma[j] += float32(d * h)
		dBeta[j] += d
		g[j] = d * gamma[j]
		gh[j] = g[j] * h
	}
}

func normGradRef(dx, g, x []float32, mean, inv, first, second float32) {
	for j, v := range g {
		h := float32((x[j] - mean) * inv)
		dx[j] = (v - first - float32(h*second)) * inv
	}
}

// laneSquares returns Σ (x[i]−mean)², in the order of laneSum.
func laneSquares(x []float32, mean float32) float32 {
	var l [lanes]float32
	for ; len(x) >= lanes; x = x[lanes:] {
		for j, v := range x[:lanes] {
			d := v - mean
			l[j] += float32(d * d)
		}
	}
	sum := fold(&l)
	for _, v := range x {
		d := v - mean
		sum += float32(d * d)
	}
	return sum
}

// root returns the square root of x, rounded once: the float64 root of a float32 rounds
// to the same float32 as the exact root.
func root(x float32) float32 { return float32(math.Sqrt(float64(x))) }
