package kernel

// Activation is a function that a matrix product applies to its result.
type Activation uint8

const (
	None Activation = iota
	ReLU            // negative values become 0; a NaN stays
)

// Gemm computes dst = act(a·b + bias).
//
//	a [m, k]   b [k, n]   bias [n] or nil   dst [m, n]
//
// All matrices are dense and row-major. dst must not overlap the others.
//
// Each element is one float32 sum that starts at 0 and takes the products in
// ascending order of k; bias is added last. [AVX2] and [AVX512] fuse each product
// with its addition, [Portable] rounds the product first. A sum without bias is
// within (k+1)·2⁻²⁴·Σ|a·b| of the exact one in every set, so those of two sets
// differ by at most twice that. NaN and infinity pass through.
//
// Gemm panics if the length of a slice does not match its shape.
func (e *Engine) Gemm(dst, a, b, bias []float32, m, n, k int, act Activation) {
	if len(dst) != m*n || len(a) != m*k || len(b) != k*n || (bias != nil && len(bias) != n) {
		panic("kernel: Gemm: length does not match shape")
	}
	e.matmul(matmul{dst: dst, bias: bias, m: m, n: n, k: k, relu: act == ReLU,
		a: operand{a, k, 1}, b: operand{b, n, 1}})
}

// GemmTA computes dst = aᵀ·b, or dst += aᵀ·b if add is true.
//
//	a [k, m]   b [k, n]   dst [m, n]
//
// Order and rounding are those of [Engine.Gemm]. With add the sum starts at the
// value of dst instead of 0.
func (e *Engine) GemmTA(dst, a, b []float32, m, n, k int, add bool) {
	if len(dst) != m*n || len(a) != k*m || len(b) != k*n {
		panic("kernel: GemmTA: length does not match shape")
	}
	if n <= narrow && m >= 4*narrow && e.set != Portable {
		e.narrowTA(dst, a, b, m, n, k, add)
		return
	}
	e.matmul(matmul{dst: dst, m: m, n: n, k: k, add: add,
		a: operand{a, 1, m}, b: operand{b, n, 1}})
}

// narrow is the largest n for which GemmTA computes the transposed result, which fills
// the vectors of a tile.
const narrow = 16

// narrowTA computes dstᵀ = bᵀ·a, which has the same sums, and transposes it.
func (e *Engine) narrowTA(dst, a, b []float32, m, n, k int, add bool) {
	e.transposed = grow(e.transposed, m*n)
	sums := e.transposed[:m*n]
	if add {
		e.set.transpose(sums, dst, n, m, m, n)
	}
	e.matmul(matmul{dst: sums, m: n, n: m, k: k, add: add,
		a: operand{b, 1, n}, b: operand{a, m, 1}})
	e.set.transpose(dst, sums, m, n, n, m)
}

// GemmTB computes dst = a·bᵀ, or dst += a·bᵀ if add is true.
//
//	a [m, k]   b [n, k]   dst [m, n]
//
// Order and rounding are those of [Engine.GemmTA].
func (e *Engine) GemmTB(dst, a, b []float32, m, n, k int, add bool) {
	if len(dst) != m*n || len(a) != m*k || len(b) != n*k {
		panic("kernel: GemmTB: length does not match shape")
	}
	e.matmul(matmul{dst: dst, m: m, n: n, k: k, add: add,
		a: operand{a, k, 1}, b: operand{b, 1, k}})
}

// operand is a factor in memory: element [i, j] is data[i*row+j*col].
type operand struct {
	data     []float32
	row, col int
}

// matmul is one product dst = act(a·b + bias), or dst += a·b, divided into blocks that
// threads may compute in any order:
//
//	            n, in strips of columns
//	        ┌───────────┬───────────┐      k is divided into ranges of depth. A
//	  m, in │ block 0   │ block 1   │      thread computes a block range by range:
//	 bands  ├───────────┼───────────┤      it packs the strip of b, then takes a in
//	of rows │ block 2   │ block 3   │      panels of rows, and each panel over all
//	        └───────────┴───────────┘      tiles of b.
//
// Between two ranges the sums are in dst, as float32 like in the registers, so the
// division changes no bits.
type matmul struct {
	e         *Engine
	dst, bias []float32
	a, b      operand
	m, n, k   int
	add, relu bool

	shape         shape
	depth         int // length of a range of k
	strips, bands int
}

// shape is the size of a set's tile, rows and columns, which fits the registers.
type shape struct{ rows, cols int }

func (s Set) shape() shape {
	switch s {
	case AVX512:
		return shape{rows: 14, cols: 32}
	case AVX2:
		return shape{rows: 6, cols: 16}
	}
	return shape{rows: 4, cols: 16}
}

// Ranges of k and strips are so large that a packed panel of a stays in the L1 cache and
// a packed strip of b in the L2 cache.
const (
	mostDepth     = 512
	stripElements = 128 << 10
)

// worthThreads is the minimum number of multiplications of a product on several threads:
// waking a thread takes as long.
const worthThreads = 1 << 22

func (e *Engine) matmul(p matmul) {
	if p.m == 0 || p.n == 0 {
		return
	}
	p.e, p.shape = e, e.set.shape()
	p.cut(len(e.threads))
	p.reserve()
	e.mul = p
	e.Run(p.strips*p.bands, 1, &e.mul)
	e.mul = matmul{} // keep no reference to the caller's memory
}

// cut determines the ranges of k and the numbers of strips and bands.
func (m *matmul) cut(threads int) {
	ranges := max(1, ceil(m.k, mostDepth))
	m.depth = ceil(ceil(m.k, ranges), line) * line
	tiles := ceil(m.n, m.shape.cols)
	m.strips, m.bands = ceil(tiles, max(1, stripElements/(max(m.depth, 1)*m.shape.cols))), 1
	if threads == 1 || m.m*m.n*m.k < m.e.worth {
		return
	}
	if tiles >= 2*threads {
		m.strips = min(ceil(m.strips, threads)*threads, tiles)
		if m.strips == threads && tiles >= 8*threads {
			m.strips *= 2 // smaller strips balance threads that start late
		}
		return
	}
	m.bands = min(threads, ceil(m.m, m.shape.rows))
}

// reserve allocates for every thread the scratch memory of any block, because threads
// take blocks dynamically.
func (m *matmul) reserve() {
	depth := min(m.k, m.depth)
	tiles := ceil(ceil(m.n, m.shape.cols), m.strips)
	for i := range m.e.threads {
		t := &m.e.threads[i]
		if m.packsA(tiles * m.shape.cols) {
			t.a = grow(t.a, max(m.shape.rows*(depth+line), m.shape.beside()*depth))
		}
		if m.packsB(ceil(m.m, m.bands)) {
			t.b = grow(t.b, tiles*m.shape.cols*depth)
		}
	}
}

func ceil(n, d int) int { return (n + d - 1) / d }

// share returns part i of n units divided into parts, the first ones larger.
func share(n, parts, i int) (lo, hi int) {
	size, more := n/parts, n%parts
	lo = i*size + min(i, more)
	hi = lo + size
	if i < more {
		hi++
	}
	return lo, hi
}

// Span computes blocks lo to hi.
func (m *matmul) Span(lo, hi, thread int) {
	tiles := ceil(m.n, m.shape.cols)
	for i := lo; i < hi; i++ {
		j0, j1 := share(tiles, m.strips, i%m.strips)
		i0, i1 := share(m.m, m.bands, i/m.strips)
		m.block(&m.e.threads[thread], i0, i1, j0*m.shape.cols, min(j1*m.shape.cols, m.n))
	}
}

// block computes rows [i0, i1) and columns [j0, j1) of dst.
func (m *matmul) block(t *thread, i0, i1, j0, j1 int) {
	for l := 0; l < m.k || l == 0; l += max(m.depth, 1) {
		depth := min(m.k-l, m.depth)
		b := m.packB(t, i1-i0, j0, j1, l, depth)
		panels := ceil(i1-i0, m.shape.rows)
		for i := range panels {
			lo, hi := share(i1-i0, panels, i)
			m.panel(t, i0+lo, i0+hi, j0, j1, l, depth, b)
		}
	}
}

// panel computes a range of k for the tiles of rows [i0, i1), at most the rows of a
// tile.
func (m *matmul) panel(t *thread, i0, i1, j0, j1, l, depth int, b strip) {
	a := m.packA(t, i0, i1, l, depth, j1-j0)
	x := &t.tile
	x.k, x.runs, x.jump, x.rows, x.ldc = depth, 1, 0, i1-i0, m.n
	x.a, x.rs, x.cs = a.data, a.row, a.col
	x.bs = b.row
	x.add = m.add || l > 0
	last := l+depth == m.k
	x.relu = m.relu && last
	for j := j0; j < j1; j += m.shape.cols {
		x.cols = min(m.shape.cols, j1-j)
		x.b = b.data[(j-j0)/m.shape.cols*b.tile:]
		x.c = m.dst[i0*m.n+j:]
		x.bias = nil
		if last && m.bias != nil {
			x.bias = m.bias[j : j+x.cols]
		}
		m.e.micro(x)
	}
	x.a, x.b, x.c, x.bias = nil, nil, nil, nil
}

// strip is a range of k of some columns of b, packed or in place: column c of tile j in
// row l is data[j*tile+l*row+c].
type strip struct {
	data      []float32
	row, tile int
}
