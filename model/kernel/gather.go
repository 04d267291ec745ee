package kernel

// gather has the arguments of the kernel of listed rows, which computes
//
//	c[i*ldc+j] = relu(s + Σ value[t]·b[index[t]*bs+j] + bias[j])
//
// for i in [0, rows), rows > 0, and j in [0, cols). The sum takes t in [start[i],
// start[i+1]) in ascending order and starts at s, which is c[i*ldc+j] if add is true,
// else 0. bias may be nil, and relu may be off.
type gather struct {
	start, index        []int32
	value, b, c, bias   []float32
	bs, ldc, rows, cols int
	add, relu           bool
}

// gatherPortable defines the result, except for the rounding of products: the assembly
// fuses each with its addition.
func gatherPortable(g *gather) {
	for i := range g.rows {
		c := g.c[i*g.ldc : i*g.ldc+g.cols]
		if !g.add {
			clear(c)
		}
		for t := g.start[i]; t < g.start[i+1]; t++ {
			b, v := g.b[int(g.index[t])*g.bs:][:len(c)], g.value[t]
			for j, w := range b {
				c[j] += float32(v * w)
			}
		}
		for j := range g.bias {
			c[j] += g.bias[j]
		}
		for j, v := range c {
			if g.relu && v < 0 {
				c[j] = 0
			}
		}
	}
}

// scatterCols is the number of elements of a sum of scatter: the maximum width of b.
const scatterCols = narrow

// scatter computes dst = xᵀ·b, or adds it, for a narrow b, from the lists by row. It
// adds to sums of scatterCols elements in scratch memory, because vectors of adjacent
// rows of dst would overlap.
func (e *Engine) scatter(dst []float32, x *NonZeros, b []float32, n int, add bool) {
	own := &e.threads[0]
	own.a = grow(own.a, x.cols*scatterCols)
	sums := own.a[:x.cols*scatterCols]
	if add {
		e.set.copyRows(sums, dst, x.cols, n, scatterCols, n)
	} else {
		clear(sums)
	}
	if x.Len() > 0 {
		g := &own.gather
		g.start, g.index, g.value = x.byRow.start, x.byRow.index, x.byRow.value
		g.b, g.bs, g.c, g.rows, g.cols = b, n, sums, x.rows, n
		e.spread(g)
		*g = gather{}
	}
	e.set.copyRows(dst, sums, x.cols, n, n, scatterCols)
}
