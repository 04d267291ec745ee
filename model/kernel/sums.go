package kernel

// lanes is the number of parallel sums.
const lanes = 16

// laneSum returns Σ x[i] in float32. It has lanes parallel sums, each of the elements
// with the same index modulo lanes. It adds these in pairs (lane j with lane j+8, then
// j+4, j+2, j+1), and then the elements after the last whole group in their order. All
// sets have this order.
func laneSum(s Set, x []float32) float32 {
	n := len(x) - len(x)%lanes
	sum := float32(0)
	if n > 0 {
		sum = groupSum(s, x[:n])
	}
	for _, v := range x[n:] {
		sum += v
	}
	return sum
}

func groupSumRef(x []float32) float32 {
	var l [lanes]float32
	for ; len(x) >= lanes; x = x[lanes:] {
		for j, v := range x[:lanes] {
			l[j] += v
		}
	}
	return fold(&l)
}

// fold adds the lanes in pairs.
func fold(l *[lanes]float32) float32 {
	for half := lanes / 2; half > 0; half /= 2 {
		for j := range half {
			l[j] += l[j+half]
		}
	}
	return l[0]
}

// sumBlock is the number of rows of a block of SumRows. The sums of the blocks are added
// in order, so that the result does not depend on threads.
const sumBlock = 256

// rowSums is the task of SumRows.
type rowSums struct {
	set     Set
	m, dst  []float32
	cols    int
	columns bool // threads divide the columns of dst, else the blocks
}

// SumRows writes the sum of the rows of m [rows, len(dst)] to dst, or adds it. It sums
// the rows of each block of sumBlock rows in order, and then the blocks' sums.
func (e *Engine) SumRows(dst, m []float32, rows int, add bool) {
	cols := len(dst)
	if len(m) != rows*cols {
		panic("kernel: SumRows: length does not match shape")
	}
	t := &e.rowSums
	blocks := max(1, (rows+sumBlock-1)/sumBlock)
	t.set, t.m, t.cols, t.columns = e.set, m, cols, blocks == 1
	if blocks == 1 && !add {
		t.dst = dst
		e.Run(cols, elementGrain/max(1, rows)+lanes, t)
		return
	}
	t.dst = e.partial(blocks * cols)
	if t.columns {
		e.Run(cols, elementGrain/max(1, rows)+lanes, t)
	} else {
		e.Run(blocks, 1+elementGrain/(sumBlock*max(1, cols)), t)
	}
	e.addBlocks(dst, t.dst, blocks, add)
}

// addBlocks writes the sum of the blocks' sums to dst, or adds it.
func (e *Engine) addBlocks(dst, sums []float32, blocks int, add bool) {
	n, first := len(dst), sums[:len(dst)]
	for b := 1; b < blocks; b++ {
		opAdd.apply(e.set, first, first, sums[b*n:(b+1)*n], 0)
	}
	if add {
		opAdd.apply(e.set, dst, dst, first, 0)
	} else {
		copy(dst, first)
	}
}

// Span sums columns lo to hi, or blocks lo to hi.
func (r *rowSums) Span(lo, hi, _ int) {
	if r.columns {
		r.sum(r.dst[lo:hi], r.m[min(lo, len(r.m)):], len(r.m)/max(1, r.cols))
		return
	}
	for b := lo; b < hi; b++ {
		m := r.m[b*sumBlock*r.cols:]
		r.sum(r.dst[b*r.cols:(b+1)*r.cols], m, min(sumBlock, len(m)/r.cols))
	}
}

// sum writes the sum of rows of m with stride cols to dst.
func (r *rowSums) sum(dst, m []float32, rows int) {
	clear(dst)
	for i := range rows {
		row := m[i*r.cols : i*r.cols+len(dst)]
		opAdd.apply(r.set, dst, dst, row, 0)
	}
}

// partial returns memory of the engine for the n elements of blocks' sums.
func (e *Engine) partial(n int) []float32 {
	if cap(e.partials) < n {
		e.partials = make([]float32, n)
	}
	return e.partials[:n]
}
