package interpreter

import (
	"ringtrain/model/kernel"
	"ringtrain/ring/phrase"
)

// networkOps returns the operations of this file: those of layers.
func networkOps() []op {
	const images = "padding data_format=NHWC dilations=1,1,1,1"
	return []op{
		{name: "MatMul", kinds: "TT", types: float32s, bind: bindMatMul, run: matMul},
		{name: "Softmax", kinds: "T", types: float32s, shape: likeInput(0), run: softmax},
		{name: "Conv2D", kinds: "TT", types: float32s, attrs: images, bind: bindWindows, shape: shapeWindows, run: conv},
		{name: "DepthwiseConv2dNative", kinds: "TT", types: float32s, attrs: images, bind: bindWindows, shape: shapeWindows, run: depthwise},
		{name: "MaxPool", kinds: "T", types: float32s, attrs: images, bind: bindWindows, shape: shapeWindows, run: pool},
		{name: "AvgPool", kinds: "T", types: float32s, attrs: images, bind: bindWindows, shape: shapeWindows, run: pool},
	}
}

// factors has the attributes of MatMul: whether a factor is transposed.
type factors struct{ a, b bool }

func bindMatMul(n *node) any {
	f := factors{n.boolean("transpose_a"), n.boolean("transpose_b")}
	if f.a && f.b {
		refuse("both factors are transposed, want one at most")
	}
	return f
}

// matMul makes the product [m, k]·[k, n].
func matMul(c *call) {
	f, a, b := c.node.bound.(factors), c.in[0], c.in[1]
	c.want(len(a.Shape) == 2 && len(b.Shape) == 2, "matrices")
	m, k, inner, n := a.Shape[0], a.Shape[1], b.Shape[0], b.Shape[1]
	if f.a {
		m, k = k, m
	}
	if f.b {
		inner, n = n, inner
	}
	c.want(inner == k, "factors that fit")
	c.make(0, a.Type, m, n)
	dst := c.out[0].Float32
	switch {
	case f.a:
		c.engine().GemmTA(dst, a.Float32, b.Float32, m, n, k, false)
	case f.b:
		c.engine().GemmTB(dst, a.Float32, b.Float32, m, n, k, false)
	default:
		c.engine().Gemm(dst, a.Float32, b.Float32, c.node.fused.bias, m, n, k, c.node.fused.act)
	}
}

func softmax(c *call) {
	x := c.in[0]
	c.want(len(x.Shape) > 0, "rows")
	if len(x.Float32) > 0 {
		c.engine().Softmax(c.out[0].Float32, nil, x.Float32, nil, x.Shape[len(x.Shape)-1], 0)
	}
}

// bindWindows binds the attributes of a convolution or a pooling, for images [n, h, w, c].
func bindWindows(n *node) any {
	padding := n.text("padding")
	if padding != "SAME" && padding != "VALID" {
		refuse("padding is %s, want SAME or VALID", phrase.Name(padding))
	}
	w := kernel.Conv{Same: padding == "SAME"}
	w.StrideH, w.StrideW = n.sides("strides")
	if len(n.in) == 1 {
		w.Height, w.Width = n.sides("ksize")
	}
	return w
}

// sides returns the height and the width of an attribute.
func (n *node) sides(name string) (h, w int) {
	side := n.integers(name)
	if len(side) != 4 || side[0] != 1 || side[3] != 1 || min(side[1], side[2]) < 1 || max(side[1], side[2]) > maxBytes {
		refuse("attribute %s is %v, want [1 h w 1]", name, side)
	}
	return int(side[1]), int(side[2])
}

// windows returns the sizes of a convolution or a pooling. The filters are all channels of its output.
func (c *call) windows() (w kernel.Conv, fit bool) {
	w, in := c.node.bound.(kernel.Conv), c.in[0].Shape
	if len(in) != 4 {
		return w, false
	}
	w.H, w.W, w.C, w.Filters = in[1], in[2], in[3], in[3]
	if len(c.in) == 1 {
		return w, true
	}
	k := c.in[1].Shape
	if len(k) != 4 || k[2] != w.C || min(k[0], k[1], k[2]) < 1 {
		return w, false
	}
	w.Height, w.Width, w.Filters = k[0], k[1], k[3]
	if c.node.op.name != "Conv2D" {
		w.Filters *= w.C
	}
	return w, true
}

// shapeWindows makes output 0: a cell for each window, with all filters.
func shapeWindows(c *call) {
	w, fit := c.windows()
	c.want(fit, "images [n h w c] and kernels [h w c filters]")
	h, wide := (w.H+w.StrideH-1)/w.StrideH, (w.W+w.StrideW-1)/w.StrideW
	if !w.Same {
		h, wide = (w.H-w.Height+w.StrideH)/w.StrideH, (w.W-w.Width+w.StrideW)/w.StrideW
	}
	c.want(min(h, wide) >= 0, "images that a window fits in")
	c.make(0, c.in[0].Type, c.in[0].Shape[0], h, wide, w.Filters)
}

func conv(c *call) {
	if y := c.out[0].Float32; len(y) > 0 {
		w, _ := c.windows()
		c.engine().Conv(y, c.in[0].Float32, c.in[1].Float32, c.node.fused.bias, w, c.node.fused.act)
	}
}

func pool(c *call) {
	y, x := c.out[0].Float32, c.in[0].Float32
	w, _ := c.windows()
	p := kernel.Pooling{H: w.H, W: w.W, C: w.C, Height: w.Height, Width: w.Width, StrideH: w.StrideH, StrideW: w.StrideW, Same: w.Same}
	switch {
	case len(y) == 0:
	case c.node.op.name == "MaxPool":
		c.engine().MaxPool(y, nil, x, p)
	default:
		c.engine().AvgPool(y, x, p)
	}
}

// depthwise convolves each channel with kernels of its own:
//
//	images [n, h, w, c]   kernels [height, width, c, m]   output [n, h', w', c·m]
func depthwise(c *call) {
	out := c.out[0]
	w, _ := c.windows()
	top, left := margin(w.H, out.Shape[1], w.Height, w.StrideH), margin(w.W, out.Shape[2], w.Width, w.StrideW)
	if !w.Same {
		top, left = 0, 0
	}
	out.zero()
	for cell := range out.length() / max(1, w.Filters) {
		n, i, j := cell/out.Shape[2]/out.Shape[1], cell/out.Shape[2]%out.Shape[1], cell%out.Shape[2]
		for at := range w.Height * w.Width {
			y, x := i*w.StrideH+at/w.Width-top, j*w.StrideW+at%w.Width-left
			if y >= 0 && y < w.H && x >= 0 && x < w.W {
				pixel := c.in[0].Float32[((n*w.H+y)*w.W+x)*w.C:][:w.C]
				addProducts(out.Float32[cell*w.Filters:][:w.Filters], pixel, c.in[1].Float32[at*w.Filters:][:w.Filters])
			}
		}
	}
}

// margin returns the cells of padding before an image.
func margin(in, out, window, stride int) int { return max(0, (out-1)*stride+window-in) / 2 }

// addProducts adds each value of the pixel times its weights to the sums.
func addProducts(sums, pixel, weights []float32) {
	m := len(sums) / len(pixel)
	for i, v := range pixel {
		for q := i * m; q < (i+1)*m; q++ {
			sums[q] += v * weights[q]
		}
	}
}
