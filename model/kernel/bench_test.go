package kernel

import (
	"fmt"
	"testing"
)

// modelShapes has squares and the products of the models: softmax, the layers of mlp
// 512-512 and of the model of 10 M parameters, as [rows, out, in].
var modelShapes = []product{
	{256, 256, 256}, {512, 512, 512}, {1024, 1024, 1024},
	{50, 10, 784}, {100, 10, 784}, {128, 512, 784}, {256, 512, 784}, {256, 512, 512}, {256, 10, 512}, {128, 2048, 2048},
}

// BenchmarkGemm measures the products of one layer: forward, and backward by
// kernel (ta) and by input (tb).
func BenchmarkGemm(b *testing.B) {
	for _, e := range engines(b, 1) {
		for _, p := range modelShapes {
			x, w, dy := dense(p.m*p.k, 1), dense(p.k*p.n, 2), dense(p.m*p.n, 3)
			y, dw, dx := make([]float32, p.m*p.n), make([]float32, p.k*p.n), make([]float32, p.m*p.k)
			for _, c := range []struct {
				op string
				f  func()
			}{
				{"ab", func() { e.Gemm(y, x, w, nil, p.m, p.n, p.k, None) }},
				{"ta", func() { e.GemmTA(dw, x, dy, p.k, p.n, p.m, false) }},
				{"tb", func() { e.GemmTB(dx, dy, w, p.m, p.k, p.n, false) }},
			} {
				b.Run(fmt.Sprintf("set=%v/op=%s/m=%d/n=%d/k=%d", e.set, c.op, p.m, p.n, p.k), func(b *testing.B) {
					for b.Loop() {
						c.f()
					}
					flop := 2 * float64(p.m) * float64(p.n) * float64(p.k) * float64(b.N)
					b.ReportMetric(flop/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
		}
	}
}

// BenchmarkConv measures the two convolutions of model cnn on a rank's 64 images:
// forward with ReLU, and backward by kernel (dw) and by input (dx).
func BenchmarkConv(b *testing.B) {
	for _, e := range engines(b, 1) {
		for _, c := range []Conv{
			{H: 28, W: 28, C: 1, Height: 5, Width: 5, Filters: 32, StrideH: 1, StrideW: 1, Same: true},
			{H: 14, W: 14, C: 32, Height: 5, Width: 5, Filters: 64, StrideH: 1, StrideW: 1, Same: true},
		} {
			const n = 64
			h, wide := c.Out()
			x, w := dense(n*c.H*c.W*c.C, 1), dense(c.Height*c.Width*c.C*c.Filters, 2)
			dy, bias := dense(n*h*wide*c.Filters, 3), dense(c.Filters, 4)
			y, dx, dw := make([]float32, len(dy)), make([]float32, len(x)), make([]float32, len(w))
			for _, k := range []struct {
				op string
				f  func()
			}{
				{"y", func() { e.Conv(y, x, w, bias, c, ReLU) }},
				{"dw", func() { e.ConvKernelGrad(dw, x, dy, c, false) }},
				{"dx", func() { e.ConvInputGrad(dx, dy, w, c, false) }},
			} {
				b.Run(fmt.Sprintf("set=%v/op=%s/h=%d/c=%d/filters=%d", e.set, k.op, c.H, c.C, c.Filters), func(b *testing.B) {
					for b.Loop() {
						k.f()
					}
					flop := 2 * float64(len(dy)) * float64(c.Height*c.Width*c.C) * float64(b.N)
					b.ReportMetric(flop/b.Elapsed().Seconds()/1e9, "GFLOP/s")
				})
			}
		}
	}
}

// dense returns n values without zeros among them.
func dense(n int, seed uint64) []float32 {
	x := random(n, seed)
	for i, v := range x {
		if v == 0 {
			x[i] = 0.5
		}
	}
	return x
}
