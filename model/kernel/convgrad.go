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
func (k *kernelGrad) panels() int { return ceil(k.conv.Width*k.conv.C, k.e.set.shape().rows) }

// strips returns the number of strips of filters.
func (k *kernelGrad) strips() int { return ceil(k.conv.Filters, k.e.set.shape().cols) }

// Span computes the tiles lo to hi.
func (k *kernelGrad) Span(lo, hi, thread int) {
	own := &k.e.threads[thread]
	k.canvas.clear(own.a)
	size := k.conv.H * k.conv.W * k.conv.C
	for i := range k.images {
		a, wide := k.canvas.paint(own.a, k.x[i*size:(i+1)*size])
		dy := k.dy[i*k.outH*k.outW*k.conv.Filters:]
		for unit := lo; unit < hi; unit++ {
			k.tile(&own.tile, unit, a, wide, dy, k.add || i > 0)
		}
	}
}

// tile adds one image to a tile of dw, or starts it.
func (k *kernelGrad) tile(x *tile, unit int, a []float32, wide int, dy []float32, add bool) {
	s, c := k.e.set.shape(), &k.conv
	j := unit % k.strips() * s.cols
	unit /= k.strips()
	row, run := unit/k.panels(), c.Width*c.C
	lo, hi := share(run, k.panels(), unit%k.panels())
	x.rows, x.cols = hi-lo, min(s.cols, c.Filters-j)
	x.k, x.runs = k.outW, k.outH
	x.rs, x.cs, x.jump = 1, c.StrideW*c.C, c.StrideH*wide-k.outW*c.StrideW*c.C
	x.a = a[row*wide+lo:]
	x.b, x.bs = dy[j:], c.Filters
	x.c, x.ldc = k.dw[(row*run+lo)*c.Filters+j:], c.Filters
	x.add, x.relu = add, false
	k.e.micro(x)
	x.a, x.b, x.c = nil, nil, nil
}
