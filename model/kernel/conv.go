package kernel

// Conv is the shape of a convolution: images [h, w, c], kernels [height, width, c,
// filters], strides. Padding is TensorFlow's, as in [Pooling]; padded cells are 0.
//
//	x [n, h, w, c]   w [height, width, c, filters]   y [n, outH, outW, filters]
//
// A sum over a window takes its cells row by row and the channels of each cell in
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

// images returns the number of images of x and y.
func (c Conv) images(x, y, w []float32) int {
	h, wide := c.Out()
	in, out := c.H*c.W*c.C, h*wide*c.Filters
	if in == 0 || out == 0 || len(x)%in != 0 || len(y) != len(x)/in*out || len(w) != c.Height*c.Width*c.C*c.Filters {
		panic("kernel: Conv: length does not match shape")
	}
	return len(x) / in
}

// origin returns the position of window [0, 0] in the image: negative with padding.
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
		canvas: canvas{h: c.H, w: c.W, c: c.C, top: -top, left: -left,
			height: (h-1)*c.StrideH + c.Height, width: (wide-1)*c.StrideW + c.Width},
		height: c.Height, width: c.Width, strideH: c.StrideH, strideW: c.StrideW,
		outH: h, outW: wide, filters: c.Filters,
		b: e.kernelTiles(w, c),
	}, n)
}

// correlation is a task that sums over windows:
//
//	dst[i, j, f] = act(Σ canvas[i·strideH+r, j·strideW+s, c]·b[r, s, c, f] + bias[f])
//
// A row of a window is contiguous in a canvas, so the micro-kernel reads windows in
// place, without a matrix of patches.
type correlation struct {
	e        *Engine
	src, dst []float32
	bias     []float32
	relu     bool

	canvas           canvas
	height, width    int // size of a window
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
	e.Run(images*t.outH, e.imageGrain(images, t.outH), &e.conv)
	e.conv = correlation{}
}

// imageGrain returns the grain of a task on the rows of images: whole images, so that
// each is padded once, unless there are too few images for the threads.
func (e *Engine) imageGrain(images, rows int) int {
	if images < 2*len(e.threads) {
		return 1
	}
	return rows
}

// Span computes the rows lo to hi of the output, counted over all images.
func (c *correlation) Span(lo, hi, thread int) {
	own := &c.e.threads[thread]
	c.canvas.clear(own.a)
	for lo < hi {
		image := lo / c.outH
		end := min((image+1)*c.outH, hi)
		size := c.canvas.h * c.canvas.w * c.canvas.c
		a, wide := c.canvas.paint(own.a, c.src[image*size:(image+1)*size])
		for ; lo < end; lo++ {
			c.row(&own.tile, lo, a[(lo-image*c.outH)*c.strideH*wide:], wide)
		}
	}
}

// row computes one row of the output, counted over all images. Its windows begin at a.
// Rows of the canvas have wide elements.
func (c *correlation) row(x *tile, row int, a []float32, wide int) {
	channels := c.canvas.c
	x.k, x.runs, x.jump = c.width*channels, c.height, wide-c.width*channels
	x.rs, x.ldc = c.strideW*channels, c.filters
	x.add, x.relu = false, c.relu
	c.e.windows(x, c.outW, c.filters, a, c.dst[row*c.outW*c.filters:], c.bias, c.b)
}

// windows computes n outputs of filters elements each from n windows; the first is at a.
// x has the steps between windows and between outputs.
func (e *Engine) windows(x *tile, n, filters int, a, dst, bias []float32, b strip) {
	s := e.set.shape()
	x.cs, x.bs = 1, b.row
	panels := ceil(n, s.rows)
	for j := 0; j < filters; j += s.cols {
		x.cols = min(s.cols, filters-j)
		x.b = b.data[j/s.cols*b.tile:]
		if bias != nil {
			x.bias = bias[j : j+x.cols]
		}
		for p := range panels {
			lo, hi := share(n, panels, p)
			x.rows = hi - lo
			x.a = a[lo*x.rs:]
			x.c = dst[lo*x.ldc+j:]
			e.micro(x)
		}
	}
	x.a, x.b, x.c, x.bias = nil, nil, nil, nil
}

// kernelTiles returns the kernels as strips of filters, packed unless they fit one tile.
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
