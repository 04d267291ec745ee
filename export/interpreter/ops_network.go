package interpreter

import (
	"errors"
	"fmt"

	"ringtrain/model/kernel"
	"ringtrain/ring/phrase"
)

// networkOps returns the operations of this file: those of layers.
func networkOps() []op {
	return []op{
		{name: "MatMul", kinds: "TT", types: float32s, bind: bindMatMul, shape: shapeMatMul, run: matMul},
		{name: "Softmax", kinds: "T", types: float32s, shape: shapeSoftmax, run: softmax},
		{name: "Conv2D", kinds: "TT", types: float32s, bind: bindWindows, shape: shapeConv, run: conv},
		{name: "DepthwiseConv2dNative", kinds: "TT", types: float32s, bind: bindWindows, shape: shapeDepthwise, run: depthwise},
		{name: "MaxPool", kinds: "T", types: float32s, needs: "ksize", bind: bindWindows, shape: shapePool, run: maxPool},
		{name: "AvgPool", kinds: "T", types: float32s, needs: "ksize", bind: bindWindows, shape: shapePool, run: avgPool},
	}
}

// factors has the attributes of MatMul: whether a factor is transposed.
type factors struct{ a, b bool }

func bindMatMul(n *node) (any, error) {
	f := factors{n.boolean("transpose_a", false), n.boolean("transpose_b", false)}
	if f.a && f.b {
		return nil, errors.New("both factors are transposed, want one at most")
	}
	return f, nil
}

// sizes returns the sizes of a product [m, k]·[k, n].
func (f factors) sizes(a, b *Tensor) (m, n, k int, fit bool) {
	if len(a.Shape) != 2 || len(b.Shape) != 2 {
		return 0, 0, 0, false
	}
	m, k, n = a.Shape[0], a.Shape[1], b.Shape[1]
	if f.a {
		m, k = k, m
	}
	inner := b.Shape[0]
	if f.b {
		inner, n = n, inner
	}
	return m, n, k, inner == k
}

func shapeMatMul(c *call) error {
	m, n, _, fit := c.node.bound.(factors).sizes(c.in[0], c.in[1])
	if !fit {
		return c.misfit("factors that fit")
	}
	return c.make(0, c.in[0].Type, m, n)
}

func matMul(c *call) error {
	f := c.node.bound.(factors)
	m, n, k, _ := f.sizes(c.in[0], c.in[1])
	dst, a, b := c.out[0].Float32, c.in[0].Float32, c.in[1].Float32
	switch {
	case f.a:
		c.engine().GemmTA(dst, a, b, m, n, k, false)
	case f.b:
		c.engine().GemmTB(dst, a, b, m, n, k, false)
	default:
		c.engine().Gemm(dst, a, b, c.node.fused.bias, m, n, k, c.node.fused.act)
	}
	return nil
}

func shapeSoftmax(c *call) error {
	if len(c.in[0].Shape) == 0 {
		return c.misfit("rows")
	}
	return c.make(0, c.in[0].Type, c.in[0].Shape...)
}

func softmax(c *call) error {
	if x := c.in[0]; len(x.Float32) > 0 {
		c.engine().Softmax(c.out[0].Float32, nil, x.Float32, nil, x.Shape[len(x.Shape)-1], 0)
	}
	return nil
}

// windows has the attributes of convolutions and poolings, for images [n, h, w, c].
type windows struct {
	height, width    int // of a pooling's window
	strideH, strideW int
	same             bool
}

func bindWindows(n *node) (any, error) {
	w := &windows{same: n.text("padding", "") == "SAME", height: 1, width: 1}
	sides := [][]int64{n.integers("strides"), n.integers("ksize"), n.integers("dilations")}
	for i, side := range sides {
		if len(side) == 0 && i > 0 {
			continue // the operation has no such attribute
		}
		if len(side) != 4 || side[0] != 1 || side[3] != 1 || min(side[1], side[2]) < 1 || max(side[1], side[2]) > maxBytes {
			return nil, fmt.Errorf("attributes strides, ksize and dilations are %v, want [1 h w 1] each", sides)
		}
	}
	w.strideH, w.strideW = int(sides[0][1]), int(sides[0][2])
	if len(sides[1]) > 0 {
		w.height, w.width = int(sides[1][1]), int(sides[1][2])
	}
	wide := len(sides[2]) > 0 && max(sides[2][1], sides[2][2]) > 1
	if !w.same && n.text("padding", "") != "VALID" || wide {
		return nil, errors.New("want padding SAME or VALID, and dilations of 1")
	}
	_, err := channelsLast(n)
	return w, err
}

// channelsLast refuses images [n c h w].
func channelsLast(n *node) (any, error) {
	if f := n.text("data_format", "NHWC"); f != "NHWC" {
		return nil, fmt.Errorf("data_format is %s, want NHWC", phrase.Name(f))
	}
	return nil, nil
}

// make makes output 0 for windows of a size over the images of input 0.
func (w *windows) make(c *call, height, width, channels int) error {
	in := c.in[0].Shape
	h, wide := (in[1]+w.strideH-1)/w.strideH, (in[2]+w.strideW-1)/w.strideW
	if !w.same {
		h, wide = (in[1]-height+w.strideH)/w.strideH, (in[2]-width+w.strideW)/w.strideW
	}
	if min(h, wide) < 0 {
		return c.misfit("images that a window fits in")
	}
	return c.make(0, c.in[0].Type, in[0], h, wide, channels)
}

// kernels checks the shapes of images and kernels, and makes the output with the channels of a kernel.
func (w *windows) kernels(c *call, channels func(k []int) int) error {
	in, k := c.in[0].Shape, c.in[1].Shape
	if len(in) != 4 || len(k) != 4 || in[3] != k[2] || min(k[0], k[1], k[2]) < 1 {
		return c.misfit("images [n h w c] and kernels [h w c filters]")
	}
	return w.make(c, k[0], k[1], channels(k))
}

func shapeConv(c *call) error {
	return c.node.bound.(*windows).kernels(c, func(k []int) int { return k[3] })
}

func conv(c *call) error {
	if y := c.out[0].Float32; len(y) > 0 {
		w, in, k := c.node.bound.(*windows), c.in[0].Shape, c.in[1].Shape
		c.engine().Conv(y, c.in[0].Float32, c.in[1].Float32, c.node.fused.bias, kernel.Conv{
			H: in[1], W: in[2], C: in[3], Height: k[0], Width: k[1], Filters: k[3],
			StrideH: w.strideH, StrideW: w.strideW, Same: w.same,
		}, c.node.fused.act)
	}
	return nil
}

func shapeDepthwise(c *call) error {
	return c.node.bound.(*windows).kernels(c, func(k []int) int { return k[2] * k[3] })
}

// depthwise convolves each channel with kernels of its own:
//
//	images [n, h, w, c]   kernels [height, width, c, m]   output [n, h', w', c·m]
func depthwise(c *call) error {
	w, in, k, out := c.node.bound.(*windows), c.in[0].Shape, c.in[1].Shape, c.out[0]
	top, left := w.margin(in[1], out.Shape[1], k[0], w.strideH), w.margin(in[2], out.Shape[2], k[1], w.strideW)
	out.zero()
	width := out.Shape[3]
	for cell := range out.length() / max(1, width) {
		n, i, j := cell/out.Shape[2]/out.Shape[1], cell/out.Shape[2]%out.Shape[1], cell%out.Shape[2]
		for at := range k[0] * k[1] {
			y, x := i*w.strideH+at/k[1]-top, j*w.strideW+at%k[1]-left
			if y >= 0 && y < in[1] && x >= 0 && x < in[2] {
				pixel := c.in[0].Float32[((n*in[1]+y)*in[2]+x)*in[3]:][:in[3]]
				addProducts(out.Float32[cell*width:][:width], pixel, c.in[1].Float32[at*width:][:width])
			}
		}
	}
	return nil
}

// addProducts adds each value of the pixel times its weights to the sums.
func addProducts(sums, pixel, weights []float32) {
	m := len(sums) / len(pixel)
	for i, v := range pixel {
		for q := i * m; q < (i+1)*m; q++ {
			sums[q] += v * weights[q]
		}
	}
}

// margin returns the cells of padding before an image.
func (w *windows) margin(in, out, window, stride int) int {
	if !w.same {
		return 0
	}
	return max(0, (out-1)*stride+window-in) / 2
}

func shapePool(c *call) error {
	w, in := c.node.bound.(*windows), c.in[0].Shape
	if len(in) != 4 {
		return c.misfit("images [n h w c]")
	}
	return w.make(c, w.height, w.width, in[3])
}

func maxPool(c *call) error {
	return pool(c, func(y, x []float32, p kernel.Pooling) { c.engine().MaxPool(y, nil, x, p) })
}

func avgPool(c *call) error { return pool(c, c.engine().AvgPool) }

func pool(c *call, f func(y, x []float32, p kernel.Pooling)) error {
	w, in := c.node.bound.(*windows), c.in[0].Shape
	if y := c.out[0].Float32; len(y) > 0 {
		f(y, c.in[0].Float32, kernel.Pooling{H: in[1], W: in[2], C: in[3], Height: w.height, Width: w.width,
			StrideH: w.strideH, StrideW: w.strideW, Same: w.same})
	}
	return nil
}
