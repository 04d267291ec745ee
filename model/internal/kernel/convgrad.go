package kernel

// ConvKernelGrad computes the gradient with respect to w: it writes dw, or adds to
// it. A sum takes the images in ascending order, and of each image the cells of dy
// row by row.
func (e *Engine) ConvKernelGrad(dw, x, dy []float32, c Conv, add bool) {
	n := c.images(x, dy, dw)
	h, wide := c.Out()
	top, left := c.origin()
	t := kernelGrad{
		e: e, dw: dw, x: x, dy: dy, add: add, images: n, conv: c, outH: h, outW: wide,
		canvas: canvas{h: c.H, w: c.W, c: c.C, top: -top, left: -left,
			height: (h-1)*c.StrideH + c.Height, width: (wide-1)*c.StrideW + c.Width},
	}
	if n == 0 {
		if !add {
			clear(dw)
		}
		return
	}
	for i := range e.threads {
		e.threads[i].a = t.canvas.reserve(e.threads[i].a)
	}
	e.kernelGrad = t
	e.Run(c.Height*t.panels()*t.strips(), 1, &e.kernelGrad)
	e.kernelGrad = kernelGrad{}
}

// kernelGrad is the task of ConvKernelGrad. Its unit is a tile of dw: a panel of a
// kernel's row by a strip of filters. Each element of dw belongs to one tile, so threads
// share no sum.
type kernelGrad struct {
	e          *Engine
	dw, x, dy  []float32
	add        bool
	images     int
	conv       Conv
	outH, outW int
	canvas     canvas
}

// panels returns the number of panels of a kernel's row, width·c elements.
func (t *kernelGrad) panels() int { return ceil(t.conv.Width*t.conv.C, t.e.set.shape().rows) }

// strips returns the number of strips of filters.
func (t *kernelGrad) strips() int { return ceil(t.conv.Filters, t.e.set.shape().cols) }

// Span computes the tiles lo to hi.
func (t *kernelGrad) Span(lo, hi, thread int) {
	own := &t.e.threads[thread]
	t.canvas.clear(own.a)
	size := t.conv.H * t.conv.W * t.conv.C
	for i := range t.images {
		a, wide := t.canvas.paint(own.a, t.x[i*size:(i+1)*size])
		dy := t.dy[i*t.outH*t.outW*t.conv.Filters:]
		for unit := lo; unit < hi; unit++ {
			t.tile(&own.tile, unit, a, wide, dy, t.add || i > 0)
		}
	}
}

// tile adds one image to a tile of dw, or starts it.
func (t *kernelGrad) tile(x *tile, unit int, a []float32, wide int, dy []float32, add bool) {
	s, c := t.e.set.shape(), &t.conv
	j := unit % t.strips() * s.cols
	unit /= t.strips()
	row, run := unit/t.panels(), c.Width*c.C
	lo, hi := share(run, t.panels(), unit%t.panels())
	x.rows, x.cols = hi-lo, min(s.cols, c.Filters-j)
	x.k, x.runs = t.outW, t.outH
	x.rs, x.cs, x.jump = 1, c.StrideW*c.C, c.StrideH*wide-t.outW*c.StrideW*c.C
	x.a = a[row*wide+lo:]
	x.b, x.bs = dy[j:], c.Filters
	x.c, x.ldc = t.dw[(row*run+lo)*c.Filters+j:], c.Filters
	x.add, x.relu = add, false
	t.e.micro(x)
	x.a, x.b, x.c = nil, nil, nil
}
