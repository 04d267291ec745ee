package kernelbench

import (
	"fmt"
	"math/rand/v2"

	"ringtrain/model/kernel"
)

// A work is one call of a kernel.
type work struct {
	op    string
	shape string
	flop  float64 // floating-point operations of a call
	call  func(e *kernel.Engine)
}

// product is a matrix product: x [m, k] · w [k, n].
type product struct{ m, n, k int }

// convolution is a layer of the cnn with a number of images.
type convolution struct {
	images int
	kernel.Conv
}

// convolutions returns the layers of the cnn on one rank of two.
func convolutions() []convolution {
	same := func(side, c, filters int) convolution {
		return convolution{64, kernel.Conv{H: side, W: side, C: c, Height: 5, Width: 5, Filters: filters, StrideH: 1, StrideW: 1, Same: true}}
	}
	return []convolution{same(28, 1, 32), same(14, 32, 64)}
}

// works returns the timed calls.
func works(c Config) []work {
	var all []work
	if c.Only == "" || c.Only == OnlySquares {
		for _, n := range c.squares() {
			p := product{n, n, n}
			x, w, y := drawn(n*n), drawn(n*n), make([]float32, n*n)
			all = append(all, work{"gemm", p.String(), p.flop(), func(e *kernel.Engine) { e.Gemm(y, x, w, nil, n, n, n, kernel.None) }})
		}
	}
	if c.Only == OnlySquares {
		return all
	}
	// The products of the models on one rank of two: softmax 784-10 with 50 examples, MLP
	// 784-512-512-10 with 128, MLP 784-2048-… with 64.
	for _, p := range []product{{50, 10, 784}, {128, 512, 784}, {128, 512, 512}, {128, 10, 512}, {64, 2048, 784}, {64, 2048, 2048}} {
		all = append(all, layer(p)...)
	}
	for _, v := range convolutions() {
		all = append(all, v.works()...)
	}
	return all
}

func (p product) flop() float64 { return 2 * float64(p.m) * float64(p.n) * float64(p.k) }

func (p product) String() string { return fmt.Sprintf("%dx%dx%d", p.m, p.n, p.k) }

// layer returns the works of a dense layer: forward, and the gradients of its kernel and
// input.
func layer(p product) []work {
	x, w, dy, bias := drawn(p.m*p.k), drawn(p.k*p.n), drawn(p.m*p.n), drawn(p.n)
	y, dw, dx := make([]float32, p.m*p.n), make([]float32, p.k*p.n), make([]float32, p.m*p.k)
	return []work{
		{"dense", p.String(), p.flop(), func(e *kernel.Engine) { e.Gemm(y, x, w, bias, p.m, p.n, p.k, kernel.ReLU) }},
		{"dense dw", p.String(), p.flop(), func(e *kernel.Engine) { e.GemmTA(dw, x, dy, p.k, p.n, p.m, false) }},
		{"dense dx", p.String(), p.flop(), func(e *kernel.Engine) { e.GemmTB(dx, dy, w, p.m, p.k, p.n, false) }},
	}
}

func (c convolution) String() string {
	return fmt.Sprintf("%dx%dx%dx%d %dx%dx%d", c.images, c.H, c.W, c.C, c.Height, c.Width, c.Filters)
}

// works returns the works of a convolution: forward, and the gradients of its kernel and
// input.
func (c convolution) works() []work {
	h, wide := c.Out()
	in, out, weights := c.images*c.H*c.W*c.C, c.images*h*wide*c.Filters, c.Height*c.Width*c.C*c.Filters
	flop := 2 * float64(out) * float64(c.Height*c.Width*c.C)
	x, w, dy, bias := drawn(in), drawn(weights), drawn(out), drawn(c.Filters)
	y, dw, dx := make([]float32, out), make([]float32, weights), make([]float32, in)
	all := []work{
		{"conv", c.String(), flop, func(e *kernel.Engine) { e.Conv(y, x, w, bias, c.Conv, kernel.ReLU) }},
		{"conv dw", c.String(), flop, func(e *kernel.Engine) { e.ConvKernelGrad(dw, x, dy, c.Conv, false) }},
	}
	if c.C > 1 { // the input images need no gradient
		all = append(all, work{"conv dx", c.String(), flop, func(e *kernel.Engine) { e.ConvInputGrad(dx, dy, w, c.Conv, false) }})
	}
	return all
}

// drawn returns n numbers in [0.5, 1.5), none zero and none denormal.
func drawn(n int) []float32 {
	draw, x := rand.New(rand.NewPCG(1, uint64(n))), make([]float32, n)
	for i := range x {
		x[i] = 0.5 + draw.Float32()
	}
	return x
}
