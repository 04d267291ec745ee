package kernel

import (
	"fmt"
	"testing"
)

// modelShapes are squares and the products of the models: softmax, the layers of
// mlp 512-512 and of the model of 10 M parameters, as [rows, out, in].
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
