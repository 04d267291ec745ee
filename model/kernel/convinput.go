package kernel

// ConvInputGrad computes the gradient with respect to x from dy, the gradient with
// respect to y: it writes dx, or adds to it.
//
// A sum takes the cells of dy that depend on the element of x in ascending order, and
// the filters of each cell.
func (e *Engine) ConvInputGrad(dx, dy, w []float32, c Conv, add bool) {
	n := c.images(dx, dy, w)
	h, wide := c.Out()
	top, left := c.origin()
	t := inputGrad{
		e: e, dx: dx, dy: dy, add: add, conv: c, top: -top, left: -left,
		tapsH: ceil(c.Height, c.StrideH), tapsW: ceil(c.Width, c.StrideW),
	}
	t.canvas = canvas{h: h, w: wide, c: c.Filters, top: t.tapsH - 1, left: t.tapsW - 1,
		height: (c.H-1+t.top)/c.StrideH + t.tapsH, width: (c.W-1+t.left)/c.StrideW + t.tapsW}
	t.b = t.tiles(w)
	for i := range e.threads {
		e.threads[i].a = t.canvas.reserve(e.threads[i].a)
	}
	e.inputGrad = t
	e.Run(n*c.H, e.imageGrain(n, c.H), &e.inputGrad)
	e.inputGrad = inputGrad{}
}

// inputGrad is the task of ConvInputGrad. Row i of x is multiplied with the rows r of a
// kernel with r ≡ i+top modulo strideH: the phase of i. They belong to consecutive rows
// of dy:
//
//	strideH = 2, top = 1, height = 3       i+top   phase   rows of a kernel   rows of dy
//	                                         1       1            1               0
//	                                         2       0          2, 0             0, 1
//	                                         3       1            1               1
//
// Columns have phases in the same way. The elements of one phase in a row of x are a row
// of windows over dy, as in forward.
type inputGrad struct {
	e            *Engine
	dx, dy       []float32
	add          bool
	conv         Conv
	top, left    int    // padding of x
	tapsH, tapsW int    // maximum rows and columns of a kernel in a phase
	canvas       canvas // dy with a border of zeros that contains all windows
	b            strip  // the kernels' taps by phase, each phase rotated by 180°
}

// taps returns the number of indices below size with remainder phase, and the number
// with a lower remainder.
func taps(size, stride, phase int) (n, before int) {
	each, more := size/stride, size%stride // the first more phases have one more index
	n, before = each, phase*each+min(phase, more)
	if phase < more {
		n++
	}
	return n, before
}

// Span computes the rows lo to hi of dx, counted over all images.
func (g *inputGrad) Span(lo, hi, thread int) {
	own, c := &g.e.threads[thread], &g.conv
	g.canvas.clear(own.a)
	size := g.canvas.h * g.canvas.w * g.canvas.c
	for lo < hi {
		image := lo / c.H
		a, wide := g.canvas.paint(own.a, g.dy[image*size:(image+1)*size])
		for end := min((image+1)*c.H, hi); lo < end; lo++ {
			g.row(&own.tile, lo, a, wide)
		}
	}
}

// row computes one row of dx, counted over all images, from the canvas a with rows of
// wide elements.
func (g *inputGrad) row(x *tile, row int, a []float32, wide int) {
	c := &g.conv
	i := row%c.H + g.top
	height, rowsBefore := taps(c.Height, c.StrideH, i%c.StrideH)
	first := i/c.StrideH + g.tapsH - height // row of the canvas
	for phase := range min(c.StrideW, c.W) {
		j := phase + g.left
		width, before := taps(c.Width, c.StrideW, j%c.StrideW)
		n := ceil(c.W-phase, c.StrideW)
		x.k, x.runs, x.jump = width*c.Filters, height, wide-width*c.Filters
		x.rs, x.ldc = c.Filters, c.StrideW*c.C
		x.add, x.relu = g.add, false
		from, b := a, g.b
		if height*width > 0 {
			from = a[first*wide+(j/c.StrideW+g.tapsW-width)*c.Filters:]
			b.data = b.data[(rowsBefore*c.Width+height*before)*c.Filters*b.row:]
		} else {
			x.k, x.rs = 0, 0 // no tap: the sums are empty
		}
		g.e.windows(x, n, c.C, from, g.dx[(row*c.W+phase)*c.C:], nil, b)
	}
}

// tiles returns the taps as strips of channels, row by row in the order of the windows.
// The taps of a row are ordered by phase.
func (g *inputGrad) tiles(w []float32) strip {
	e, c, cols := g.e, &g.conv, g.e.set.shape().cols
	depth := c.Height * c.Width * c.Filters
	e.packed = grow(e.packed, ceil(c.C, cols)*cols*depth)
	for j := 0; j < c.C; j += cols {
		dst := e.packed[j*depth:]
		for r := range c.Height {
			height, rowsBefore := taps(c.Height, c.StrideH, r%c.StrideH)
			row := height - 1 - r/c.StrideH // index in the phase, in reverse order
			for s := range c.Width {
				width, before := taps(c.Width, c.StrideW, s%c.StrideW)
				tap := rowsBefore*c.Width + height*before + row*width + width - 1 - s/c.StrideW
				from := w[((r*c.Width+s)*c.C+j)*c.Filters:]
				e.set.transpose(dst[tap*c.Filters*cols:], from, c.Filters, min(cols, c.C-j), cols, c.Filters)
			}
		}
	}
	return strip{data: e.packed, row: cols, tile: cols * depth}
}
