package interpreter

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"ringtrain/export/tfpb"
	"ringtrain/model/kernel"
)

// networkOps returns the operations of this file: those of layers.
func networkOps() []op {
	return []op{
		{name: "MatMul", kinds: "TT", types: numbers, bind: bindMatMul, shape: shapeMatMul, run: matMul},
		{name: "Softmax", kinds: "T", types: floats, shape: shapeSoftmax, run: softmax},
		{name: "Conv2D", kinds: "TT", types: float32s, bind: bindWindows, shape: shapeConv, run: conv},
		{name: "DepthwiseConv2dNative", kinds: "TT", types: float32s, bind: bindWindows, shape: shapeDepthwise, run: depthwise},
		{name: "MaxPool", kinds: "T", types: float32s, bind: bindWindows, shape: shapePool, run: maxPool},
		{name: "AvgPool", kinds: "T", types: float32s, bind: bindWindows, shape: shapePool, run: avgPool},
	}
}

// product has the attributes of MatMul.
type product struct{ a, b bool } // transposed factors

func bindMatMul(n *node) (any, error) {
	return product{n.boolean("transpose_a", false), n.boolean("transpose_b", false)}, nil
}

// sizes returns the sizes of a product [m, k]·[k, n].
func (p product) sizes(c *call) (m, n, k int, err error) {
	a, b := c.in[0].Shape, c.in[1].Shape
	if len(a) != 2 || len(b) != 2 {
		return 0, 0, 0, errors.New("a factor is no matrix: " + shapes(c.in))
	}
	m, k = a[0], a[1]
	if p.a {
		m, k = k, m
	}
	inner, n := b[0], b[1]
	if p.b {
		inner, n = n, inner
	}
	if inner != k {
		err = errors.New("the factors do not fit: " + shapes(c.in))
	}
	return m, n, k, err
}

func shapeMatMul(c *call) error {
	m, n, _, err := c.bound.(product).sizes(c)
	if err != nil {
		return err
	}
	return c.make(0, c.in[0].Type, m, n)
}

func matMul(c *call) error {
	p := c.bound.(product)
	m, n, k, err := p.sizes(c)
	if err != nil {
		return err
	}
	a, b, out := c.in[0], c.in[1], c.out[0]
	switch {
	case out.Type == tfpb.DataType_DT_DOUBLE:
		multiply(out.Float64, a.Float64, b.Float64, m, n, k, p)
	case out.Type == tfpb.DataType_DT_INT32:
		multiply(out.Int32, a.Int32, b.Int32, m, n, k, p)
	case out.Type == tfpb.DataType_DT_INT64:
		multiply(out.Int64, a.Int64, b.Int64, m, n, k, p)
	case p.a && p.b:
		multiply(out.Float32, a.Float32, b.Float32, m, n, k, p)
	case p.a:
		c.engine().GemmTA(out.Float32, a.Float32, b.Float32, m, n, k, false)
	case p.b:
		c.engine().GemmTB(out.Float32, a.Float32, b.Float32, m, n, k, false)
	default:
		c.engine().Gemm(out.Float32, a.Float32, b.Float32, c.fused.bias, m, n, k, c.fused.act)
	}
	return nil
}

// multiply computes the products that have no kernel.
func multiply[T number](dst, a, b []T, m, n, k int, p product) {
	rowA, colA, rowB, colB := k, 1, n, 1
	if p.a {
		rowA, colA = 1, m
	}
	if p.b {
		rowB, colB = 1, k
	}
	for i := range m {
		for j := range n {
			var sum T
			for l := range k {
				sum += a[i*rowA+l*colA] * b[l*rowB+j*colB]
			}
			dst[i*n+j] = sum
		}
	}
}

func shapeSoftmax(c *call) error {
	if len(c.in[0].Shape) < 1 {
		return errors.New("the input is a scalar, want rows")
	}
	return c.make(0, c.in[0].Type, c.in[0].Shape...)
}

func softmax(c *call) error {
	x, y := c.in[0], c.out[0]
	k := x.Shape[len(x.Shape)-1]
	if len(x.Float32) > 0 {
		c.engine().Softmax(y.Float32, nil, x.Float32, nil, k, 0)
	}
	for at := 0; at < len(x.Float64); at += k {
		row, sum := y.Float64[at:][:k], 0.0
		copy(row, x.Float64[at:])
		top := slices.Max(row)
		for i, v := range row {
			row[i] = math.Exp(v - top)
			sum += row[i]
		}
		for i := range row {
			row[i] /= sum
		}
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
	w := &windows{same: n.text("padding", "") == "SAME"}
	if !w.same && n.text("padding", "") != "VALID" {
		return nil, fmt.Errorf("attribute padding is %q, want SAME or VALID", n.text("padding", ""))
	}
	if f := n.text("data_format", "NHWC"); f != "NHWC" {
		return nil, fmt.Errorf("attribute data_format is %q, want NHWC", f)
	}
	for _, attr := range []struct {
		name          string
		height, width *int
	}{{"strides", &w.strideH, &w.strideW}, {"ksize", &w.height, &w.width}} {
		*attr.height, *attr.width = 1, 1
		list := n.integers(attr.name)
		if list == nil && attr.name == "ksize" {
			continue
		}
		if len(list) != 4 || list[0] != 1 || list[3] != 1 || min(list[1], list[2]) < 1 || max(list[1], list[2]) > maxBytes {
			return nil, fmt.Errorf("attribute %s is %v, want [1 h w 1]", attr.name, list)
		}
		*attr.height, *attr.width = int(list[1]), int(list[2])
	}
	for _, d := range n.integers("dilations") {
		if d != 1 {
			return nil, fmt.Errorf("attribute dilations is %v, want ones", n.integers("dilations"))
		}
	}
	return w, nil
}

// make makes output 0 for windows of a size over the images of input 0.
func (w *windows) make(c *call, height, width, channels int) error {
	in := c.in[0].Shape
	if len(in) != 4 {
		return fmt.Errorf("the input has shape %v, want images [n h w c]", slices.Clone(in))
	}
	h, err := w.places(in[1], height, w.strideH)
	if err != nil {
		return err
	}
	wide, err := w.places(in[2], width, w.strideW)
	if err != nil {
		return err
	}
	return c.make(0, c.in[0].Type, in[0], h, wide, channels)
}

// places returns the number of windows along a side.
func (w *windows) places(in, window, stride int) (int, error) {
	if w.same {
		return (in + stride - 1) / stride, nil
	}
	if in+stride < window {
		return 0, fmt.Errorf("a window of %d in an image of %d", window, in)
	}
	return (in - window + stride) / stride, nil
}

func shapeConv(c *call) error {
	in, k := c.in[0].Shape, c.in[1].Shape
	if len(in) != 4 || len(k) != 4 || in[3] != k[2] || min(k[0], k[1], k[2]) < 1 {
		return errors.New("the kernels do not fit the images: " + shapes(c.in))
	}
	return c.bound.(*windows).make(c, k[0], k[1], k[3])
}

func conv(c *call) error {
	if len(c.out[0].Float32) > 0 {
		w, in, k := c.bound.(*windows), c.in[0].Shape, c.in[1].Shape
		c.engine().Conv(c.out[0].Float32, c.in[0].Float32, c.in[1].Float32, c.fused.bias, kernel.Conv{
			H: in[1], W: in[2], C: in[3], Height: k[0], Width: k[1], Filters: k[3],
			StrideH: w.strideH, StrideW: w.strideW, Same: w.same,
		}, c.fused.act)
	}
	return nil
}

func shapeDepthwise(c *call) error {
	in, k := c.in[0].Shape, c.in[1].Shape
	if len(in) != 4 || len(k) != 4 || in[3] != k[2] || min(k[0], k[1]) < 1 {
		return errors.New("the kernels do not fit the images: " + shapes(c.in))
	}
	return c.bound.(*windows).make(c, k[0], k[1], k[2]*k[3])
}

// depthwise convolves each channel with kernels of its own:
//
//	images [n, h, w, c]   kernels [height, width, c, m]   output [n, h', w', c·m]
func depthwise(c *call) error {
	w, in, k, out := c.bound.(*windows), c.in[0].Shape, c.in[1].Shape, c.out[0]
	top, left := w.origin(in[1], out.Shape[1], k[0], w.strideH), w.origin(in[2], out.Shape[2], k[1], w.strideW)
	out.zero()
	width := k[2] * k[3]
	for cell := range len(out.Float32) / max(1, width) {
		sums := out.Float32[cell*width:][:width]
		j, i, n := cell%out.Shape[2], cell/out.Shape[2]%out.Shape[1], cell/out.Shape[2]/out.Shape[1]
		for r := range k[0] {
			for s := range k[1] {
				y, x := i*w.strideH+r-top, j*w.strideW+s-left
				if y < 0 || y >= in[1] || x < 0 || x >= in[2] {
					continue
				}
				pixel := c.in[0].Float32[((n*in[1]+y)*in[2]+x)*in[3]:][:in[3]]
				addProducts(sums, pixel, c.in[1].Float32[(r*k[1]+s)*width:][:width])
			}
		}
	}
	return nil
}

// addProducts adds each value of the pixel times its weights to the sums.
func addProducts(sums, pixel, weights []float32) {
	if len(sums) == len(pixel) {
		for i, v := range pixel {
			sums[i] += v * weights[i]
		}
		return
	}
	m := len(sums) / len(pixel)
	for i, v := range pixel {
		for q := i * m; q < (i+1)*m; q++ {
			sums[q] += v * weights[q]
		}
	}
}

// origin returns the cells of padding before an image.
func (w *windows) origin(in, out, window, stride int) int {
	if !w.same {
		return 0
	}
	return max(0, (out-1)*stride+window-in) / 2
}

func shapePool(c *call) error {
	w := c.bound.(*windows)
	if len(c.in[0].Shape) != 4 {
		return fmt.Errorf("the input has shape %v, want images [n h w c]", slices.Clone(c.in[0].Shape))
	}
	return w.make(c, w.height, w.width, c.in[0].Shape[3])
}

// pooling returns the shape of a pooling for its kernel.
func (w *windows) pooling(in []int) kernel.Pooling {
	return kernel.Pooling{
		H: in[1], W: in[2], C: in[3], Height: w.height, Width: w.width,
		StrideH: w.strideH, StrideW: w.strideW, Same: w.same,
	}
}

func maxPool(c *call) error {
	if y := c.out[0].Float32; len(y) > 0 {
		c.engine().MaxPool(y, nil, c.in[0].Float32, c.bound.(*windows).pooling(c.in[0].Shape))
	}
	return nil
}

func avgPool(c *call) error {
	if y := c.out[0].Float32; len(y) > 0 {
		c.engine().AvgPool(y, c.in[0].Float32, c.bound.(*windows).pooling(c.in[0].Shape))
	}
	return nil
}
