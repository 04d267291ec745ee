package kernel

// Pooling is the shape of a pooling layer: images [h, w, c], windows, strides. Padding
// is TensorFlow's: with Same the output has ⌈h/stride⌉ rows, and an odd cell of padding
// is at the bottom or right; otherwise all windows are inside the image.
type Pooling struct {
	H, W, C          int // of the input
	Height, Width    int // of the window
	StrideH, StrideW int
	Same             bool
}

// Out returns the height and width of the output.
func (p Pooling) Out() (h, w int) {
	return extent(p.H, p.Height, p.StrideH, p.Same), extent(p.W, p.Width, p.StrideW, p.Same)
}

func extent(in, window, stride int, same bool) int {
	if same {
		return (in + stride - 1) / stride
	}
	return max(0, (in-window)/stride+1)
}

// origin returns the first row or column of window 0 in the image: negative with
// padding.
func origin(in, out, window, stride int, same bool) int {
	if !same {
		return 0
	}
	return -(max(0, (out-1)*stride+window-in) / 2)
}

// poolKind is an operation on a window.
type poolKind int

const (
	poolMax poolKind = iota
	poolMaxGrad
	poolMaxPut // poolMaxGrad for windows that cover each cell once, without addition
	poolMean
	poolMeanGrad
)

// poolImages is the task of a pooling.
type poolImages struct {
	set        Set
	kind       poolKind
	p          Pooling
	outH, outW int
	top, left  int // origin of window [0, 0]
	x, y       []float32
	arg        []int32
	add        bool
}

// MaxPool writes the largest element of each window to y, channel by channel. If arg is
// not nil, it writes the index of the element's cell in the window (row·width + column),
// the first of equal ones. Padding does not count. A NaN in a window is its result.
//
//	x [n, h, w, c]   y, arg [n, outH, outW, c]
func (e *Engine) MaxPool(y []float32, arg []int32, x []float32, p Pooling) {
	if arg != nil && len(arg) != len(y) {
		panic("kernel: MaxPool: length does not match shape")
	}
	e.pooling(poolMax, x, y, arg, p, false)
}

// MaxPoolGrad assigns each element of dy to the cell that arg names: it writes dx, or
// adds to it.
func (e *Engine) MaxPoolGrad(dx, dy []float32, arg []int32, p Pooling, add bool) {
	if len(arg) != len(dy) {
		panic("kernel: MaxPoolGrad: length does not match shape")
	}
	e.pooling(poolMaxGrad, dx, dy, arg, p, add)
}

// AvgPool writes the mean of each window's cells to y. Padding does not count.
func (e *Engine) AvgPool(y, x []float32, p Pooling) { e.pooling(poolMean, x, y, nil, p, false) }

// AvgPoolGrad distributes dy over the cells: it writes dx, or adds to it.
func (e *Engine) AvgPoolGrad(dx, dy []float32, p Pooling, add bool) {
	e.pooling(poolMeanGrad, dx, dy, nil, p, add)
}

// GlobalAvgPool writes the mean over the cells of each image to y.
//
//	x [n, cells, c]   y [n, c]
func (e *Engine) GlobalAvgPool(y, x []float32, cells, c int) {
	e.AvgPool(y, x, Pooling{H: cells, W: 1, C: c, Height: cells, Width: 1, StrideH: 1, StrideW: 1})
}

// GlobalAvgPoolGrad distributes dy over the cells: it writes dx, or adds to it.
func (e *Engine) GlobalAvgPoolGrad(dx, dy []float32, cells, c int, add bool) {
	e.AvgPoolGrad(dx, dy, Pooling{H: cells, W: 1, C: c, Height: cells, Width: 1, StrideH: 1, StrideW: 1}, add)
}

func (e *Engine) pooling(kind poolKind, x, y []float32, arg []int32, p Pooling, add bool) {
	h, w := p.Out()
	in, out := p.H*p.W*p.C, h*w*p.C
	if out == 0 || len(y)%out != 0 || len(x) != len(y)/out*in {
		panic("kernel: pooling: length does not match shape")
	}
	t := &e.poolImages
	*t = poolImages{set: e.set, kind: kind, p: p, outH: h, outW: w, x: x, y: y, arg: arg, add: add}
	t.top = origin(p.H, h, p.Height, p.StrideH, p.Same)
	t.left = origin(p.W, w, p.Width, p.StrideW, p.Same)
	if tiles := p.Height == p.StrideH && p.Width == p.StrideW && h*p.Height == p.H && w*p.Width == p.W; tiles && kind == poolMaxGrad && !add {
		t.kind = poolMaxPut
	}
	e.Run(len(y)/out, 1+elementGrain/in, t)
}

// Span computes images lo to hi.
func (p *poolImages) Span(lo, hi, _ int) {
	in, out := p.p.H*p.p.W*p.p.C, p.outH*p.outW*p.p.C
	for i := lo; i < hi; i++ {
		x := p.x[i*in : (i+1)*in]
		if !p.add && (p.kind == poolMaxGrad || p.kind == poolMeanGrad) {
			clear(x)
		}
		for oy := range p.outH {
			for ox := range p.outW {
				p.window(x, i*out+(oy*p.outW+ox)*p.p.C, p.top+oy*p.p.StrideH, p.left+ox*p.p.StrideW)
			}
		}
	}
}

// window computes the window with the first cell [top, left] of image x and outputs from
// out on.
func (p *poolImages) window(x []float32, out, top, left int) {
	y0, y1 := max(0, top), min(p.p.H, top+p.p.Height)
	x0, x1 := max(0, left), min(p.p.W, left+p.p.Width)
	c := p.p.C
	w := poolWindow{
		x: x[(y0*p.p.W+x0)*c:], y: p.y[out : out+c], rows: y1 - y0, cols: x1 - x0, stride: p.p.W * c,
		first: int32((y0-top)*p.p.Width + x0 - left), skip: int32(p.p.Width - (x1 - x0)), count: float32((y1 - y0) * (x1 - x0)),
	}
	if p.arg != nil {
		w.arg = p.arg[out : out+c]
	}
	w.run(p.set, p.kind)
}
