package kernel

import "math"

// NonZeros lists the nonzero elements of a matrix x [rows, cols] row by row, each row in
// ascending order of columns. A product with a list takes the same products in the same
// order as one with the matrix, except for those with a zero. The bits are therefore
// equal if the other factor is finite, apart from a −0 to which no product is added.
//
// The zero value is an empty list for [Engine.Scan].
type NonZeros struct {
	rows, cols int
	byRow      lists // of columns
	byCol      lists // of rows, made for a wide backward product
	hasByCol   bool  // byCol lists what byRow does
}

// lists has rows of indices with values. Row i has the elements [start[i], start[i+1]).
type lists struct {
	start []int32
	index []int32
	value []float32
}

// resize allocates rows and elements plus one vector. It keeps the existing elements.
func (l *lists) resize(rows, elements int) {
	const slack = 16
	if cap(l.start) < rows+1 {
		l.start = make([]int32, rows+1)
	}
	l.start = l.start[:rows+1]
	if len(l.index) < elements+slack {
		l.index = append(make([]int32, 0, elements+slack), l.index...)[:elements+slack]
		l.value = append(make([]float32, 0, elements+slack), l.value...)[:elements+slack]
	}
}

// Len returns the number of elements.
func (z *NonZeros) Len() int {
	if len(z.byRow.start) == 0 {
		return 0
	}
	return int(z.byRow.start[z.rows])
}

// densityThatPays returns the share of nonzero elements below which scan and lists are
// faster than the dense products, forward and backward together; see BenchmarkNonZeros.
// A narrow b uses an element little, so that the cost of the scan dominates.
func (s Set) densityThatPays(n int) float64 {
	switch {
	case n > narrow || s == Portable:
		return 0.40
	case s == AVX2:
		return 0.22
	}
	return 0.12
}

// Scan lists the nonzero elements of x [rows, cols] in z. It returns true if they are
// few enough for products with a [cols, n] matrix to be faster; else z is empty. The
// scan stops when there are too many, or clearly too many in the first rows. z keeps no
// reference to x.
func (e *Engine) Scan(z *NonZeros, x []float32, rows, cols, n int) bool {
	if len(x) != rows*cols {
		panic("kernel: Scan: length does not match shape")
	}
	limit := int(e.set.densityThatPays(n) * float64(len(x)))
	if len(x) > math.MaxInt32 {
		limit = 0 // lists have numbers of 32 bits
	}
	return e.list(z, x, rows, cols, limit)
}

// firstRows is the number of rows after which a scan stops if they have a third more
// elements than the limit.
const firstRows = 4

// list lists the elements of x unless there are more than limit.
func (e *Engine) list(z *NonZeros, x []float32, rows, cols, limit int) bool {
	z.rows, z.cols, z.hasByCol = rows, cols, false
	z.byRow.resize(rows, min(limit+cols, firstRows*cols))
	total := 0
	for i := range rows {
		if i == firstRows {
			z.byRow.resize(rows, limit+cols) // the scan of a dense x has stopped before
		}
		z.byRow.start[i] = int32(total)
		total += e.scanRow(z.byRow.index[total:], z.byRow.value[total:], x[i*cols:(i+1)*cols])
		if total > limit || i+1 == firstRows && rows > firstRows && 3*total*rows > 4*limit*firstRows {
			z.rows, z.cols = 0, 0 // a product panics
			z.byRow.start[0] = 0
			return false
		}
	}
	z.byRow.start[rows] = int32(total)
	return true
}

// scan appends the nonzero elements of x to index and value and returns their number. It
// may overwrite up to 16 elements after them.
func scan(index []int32, value, x []float32) int {
	n := 0
	for j, v := range x {
		index[n], value[n] = int32(j), v
		if v != 0 {
			n++
		}
	}
	return n
}

// listColumns makes byCol.
func (z *NonZeros) listColumns() {
	if z.hasByCol {
		return
	}
	z.hasByCol = true
	z.byCol.resize(z.cols, z.Len())
	start := z.byCol.start
	clear(start)
	for _, j := range z.byRow.index[:z.Len()] {
		start[j]++
	}
	sum := int32(0)
	for j, n := range start {
		start[j] = sum
		sum += n
	}
	for i := range z.rows {
		lo, hi := z.byRow.start[i], z.byRow.start[i+1]
		value := z.byRow.value[lo:hi]
		for t, j := range z.byRow.index[lo:hi] {
			at := start[j]
			start[j] = at + 1
			z.byCol.index[at], z.byCol.value[at] = int32(i), value[t]
		}
	}
	copy(start[1:], start[:z.cols]) // start[j] was moved to the end of column j
	start[0] = 0
}

// GemmNonZeros computes dst = act(x·b + bias), as [Engine.Gemm] with the listed matrix.
//
//	x [m, k]   b [k, n]   bias [n] or nil   dst [m, n]
func (e *Engine) GemmNonZeros(dst []float32, x *NonZeros, b, bias []float32, n int, act Activation) {
	if len(dst) != x.rows*n || len(b) != x.cols*n || (bias != nil && len(bias) != n) {
		panic("kernel: GemmNonZeros: length does not match shape")
	}
	e.listed(listed{dst: dst, b: b, bias: bias, x: &x.byRow, m: x.rows, n: n, k: x.cols, relu: act == ReLU})
}

// GemmNonZerosTA computes dst = xᵀ·b, or dst += xᵀ·b if add is true, as [Engine.GemmTA]
// with the listed matrix.
//
//	x [k, m]   b [k, n]   dst [m, n]
func (e *Engine) GemmNonZerosTA(dst []float32, x *NonZeros, b []float32, n int, add bool) {
	if len(dst) != x.cols*n || len(b) != x.rows*n {
		panic("kernel: GemmNonZerosTA: length does not match shape")
	}
	if n == 0 {
		return
	}
	if n <= scatterCols && e.set != Portable && !x.hasByCol {
		e.scatter(dst, x, b, n, add)
		return
	}
	x.listColumns()
	e.listed(listed{dst: dst, b: b, x: &x.byCol, m: x.cols, n: n, k: x.rows, add: add})
}

// listed is the task of a product of lists with a dense b. Its unit is a strip of one
// tile's columns by a band of rows.
type listed struct {
	e            *Engine
	dst, b, bias []float32
	x            *lists
	m, n, k      int
	add, relu    bool
	bands        int
}

func (e *Engine) listed(p listed) {
	cols := e.set.shape().cols
	tiles := ceil(p.n, cols)
	p.e, p.bands = e, 1
	if t := len(e.threads); t > 1 && tiles < 2*t && int(p.x.start[p.m])*p.n >= e.worth {
		p.bands = t
	}
	if p.n > cols {
		for i := range e.threads {
			e.threads[i].b = grow(e.threads[i].b, cols*p.k)
		}
	}
	e.lists = p
	e.Run(tiles*p.bands, 1, &e.lists)
	e.lists = listed{}
}

// Span computes units lo to hi.
func (l *listed) Span(lo, hi, thread int) {
	own, cols := &l.e.threads[thread], l.e.set.shape().cols
	for unit := lo; unit < hi; unit++ {
		j := unit / l.bands * cols
		i0, i1 := share(l.m, l.bands, unit%l.bands)
		g := &own.gather
		g.b, g.bs = l.b, l.n
		if l.n > cols {
			l.e.set.copyRows(own.b, l.b[j:], l.k, min(cols, l.n-j), cols, l.n)
			g.b, g.bs = own.b, cols
		}
		g.cols, g.ldc = min(cols, l.n-j), l.n
		if l.bias != nil {
			g.bias = l.bias[j : j+g.cols]
		}
		g.index, g.value, g.add, g.relu = l.x.index, l.x.value, l.add, l.relu
		for ; i0 < i1; i0 += mostListed {
			g.rows = min(mostListed, i1-i0)
			g.start, g.c = l.x.start[i0:i0+g.rows+1], l.dst[i0*l.n+j:]
			l.e.gather(g)
		}
		*g = gather{}
	}
}

// mostListed is the maximum number of rows per call of the assembly, which the runtime
// cannot preempt.
const mostListed = 128
