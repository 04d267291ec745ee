package kernel

// Conv is the shape of a convolution: images [h, w, c], kernels [height, width, c,
// filters], strides. Padding is TensorFlow's, as with [Pooling]; padded cells are 0.
//
//	x [n, h, w, c]   w [height, width, c, filters]   y [n, outH, outW, filters]
//
// A sum over a window takes its cells row by row and of each cell the channels, in
// ascending order. Rounding, bias and activation are those of [Engine.Gemm].
type Conv struct {
	H, W, C          int // of the input
	Height, Width    int // of the kernels
	Filters          int
	StrideH, StrideW int
	Same             bool
}

// Out returns the height and width of the output.
func (c Conv) Out() (h, w int) {
	return extent(c.H, c.Height, c.StrideH, c.Same), extent(c.W, c.Width, c.StrideW, c.Same)
}

// images returns how many images x and y hold.
func (c Conv) images(x, y, w []float32) int {
	h, wide := c.Out()
	in, out := c.H*c.W*c.C, h*wide*c.Filters
	if in == 0 || out == 0 || len(x)%in != 0 || len(y) != len(x)/in*out || len(w) != c.Height*c.Width*c.C*c.Filters {
		panic("kernel: Conv: length does not match shape")
	}
	return len(x) / in
}

// origin returns the place of window [0, 0] in the image: negative with padding.
func (c Conv) origin() (top, left int) {
	h, w := c.Out()
	return origin(c.H, h, c.Height, c.StrideH, c.Same), origin(c.W, w, c.Width, c.StrideW, c.Same)
}

// Conv computes y = act(x * w + bias). bias is [filters] or nil.
func (e *Engine) Conv(y, x, w, bias []float32, c Conv, act Activation) {
	n := c.images(x, y, w)
	if bias != nil && len(bias) != c.Filters {
		panic("kernel: Conv: length does not match shape")
	}
	h, wide := c.Out()
	top, left := c.origin()
	e.correlate(correlation{
		src: x, dst: y, bias: bias, relu: act == ReLU,
		canvas: canvas{h: c.H, w: c.W, c: c.C, top: -top, left: -left, stepH: 1, stepW: 1,
			height: (h-1)*c.StrideH + c.Height, width: (wide-1)*c.StrideW + c.Width},
		height: c.Height, width: c.Width, strideH: c.StrideH, strideW: c.StrideW,
		outH: h, outW: wide, filters: c.Filters,
		b: e.kernelTiles(w, c),
	}, n)
}

// ConvInputGrad computes the gradient with respect to x from dy, the one with
// respect to y: it writes dx, or adds to it.
//
// A sum takes the cells of dy that met the element of x in ascending order, and of
// each cell the filters. Strides above 1 cost as many multiplications as stride 1:
// those with the zeros between the cells of dy.
func (e *Engine) ConvInputGrad(dx, dy, w []float32, c Conv, add bool) {
	n := c.images(dx, dy, w)
	h, wide := c.Out()
	top, left := c.origin()
	e.correlate(correlation{
		src: dy, dst: dx, add: add,
		canvas: canvas{h: h, w: wide, c: c.Filters, top: c.Height - 1 + top, left: c.Width - 1 + left,
			stepH: c.StrideH, stepW: c.StrideW, height: c.H + c.Height - 1, width: c.W + c.Width - 1},
		height: c.Height, width: c.Width, strideH: 1, strideW: 1,
		outH: c.H, outW: c.W, filters: c.C,
		b: e.turnedTiles(w, c),
	}, n)
}

// correlation is a sum over windows on its way over the threads:
//
//	dst[i, j, f] = act(Σ canvas[i·strideH+r, j·strideW+s, c]·b[r, s, c, f] + bias[f])
//
// A window's row is one run of a canvas, so the micro-kernel reads windows where
// they lie. No matrix of patches exists.
type correlation struct {
	e         *Engine
	src, dst  []float32
	bias      []float32
	add, relu bool

	canvas           canvas
	height, width    int // of a window
	strideH, strideW int
	outH, outW       int
	filters          int
	b                strip
}

func (e *Engine) correlate(t correlation, images int) {
	t.e = e
	for i := range e.threads {
		e.threads[i].a = t.canvas.reserve(e.threads[i].a)
	}
	e.conv = t
	grain := t.outH // whole images, so that each is padded once
	if images < 2*len(e.threads) {
		grain = 1
	}
	e.Run(images*t.outH, grain, &e.conv)
	e.conv = correlation{}
}

// Span computes the rows lo to hi of the output, counted over all images.
func (t *correlation) Span(lo, hi, thread int) {
	own := &t.e.threads[thread]
	t.canvas.clear(own.a)
	for lo < hi {
		image := lo / t.outH
		end := min((image+1)*t.outH, hi)
		size := t.canvas.h * t.canvas.w * t.canvas.c
		a, wide := t.canvas.paint(own.a, t.src[image*size:(image+1)*size])
		for ; lo < end; lo++ {
			t.row(&own.tile, lo, a[(lo-image*t.outH)*t.strideH*wide:], wide)
		}
	}
}

// row computes one row of the output, numbered over all images. Its windows begin
// at a; rows of the canvas are wide elements.
func (t *correlation) row(x *tile, row int, a []float32, wide int) {
	s := t.e.set.shape()
	channels := t.canvas.c
	x.k, x.runs, x.jump = t.width*channels, t.height, wide-t.width*channels
	x.rs, x.cs, x.bs, x.ldc = t.strideW*channels, 1, t.b.row, t.filters
	x.add, x.relu = t.add, t.relu
	panels := ceil(t.outW, s.rows)
	for j := 0; j < t.filters; j += s.cols {
		x.cols = min(s.cols, t.filters-j)
		x.b = t.b.data[j/s.cols*t.b.tile:]
		if t.bias != nil {
			x.bias = t.bias[j : j+x.cols]
		}
		for p := range panels {
			lo, hi := share(t.outW, panels, p)
			x.rows = hi - lo
			x.a = a[lo*x.rs:]
			x.c = t.dst[(row*t.outW+lo)*t.filters+j:]
			t.e.micro(x)
		}
	}
	x.a, x.b, x.c, x.bias = nil, nil, nil, nil
}

// kernelTiles returns the kernels as strips of filters, packed unless they fit one
// tile.
func (e *Engine) kernelTiles(w []float32, c Conv) strip {
	cols, depth := e.set.shape().cols, c.Height*c.Width*c.C
	if c.Filters <= cols {
		return strip{data: w, row: c.Filters}
	}
	e.packed = grow(e.packed, ceil(c.Filters, cols)*cols*depth)
	for j := 0; j < c.Filters; j += cols {
		e.set.copyRows(e.packed[j*depth:], w[j:], depth, min(cols, c.Filters-j), cols, c.Filters)
	}
	return strip{data: e.packed, row: cols, tile: cols * depth}
}

// turnedTiles returns the kernels turned by half a turn, as strips of channels:
// row (r, s, f), column c is w[height-1-r, width-1-s, c, f].
func (e *Engine) turnedTiles(w []float32, c Conv) strip {
	cols, cells := e.set.shape().cols, c.Height*c.Width
	depth := cells * c.Filters
	e.packed = grow(e.packed, ceil(c.C, cols)*cols*depth)
	for j := 0; j < c.C; j += cols {
		for i := range cells {
			from := w[((cells-1-i)*c.C+j)*c.Filters:]
			e.set.transpose(e.packed[j*depth+i*c.Filters*cols:], from, c.Filters, min(cols, c.C-j), cols, c.Filters)
		}
	}
	return strip{data: e.packed, row: cols, tile: cols * depth}
}
