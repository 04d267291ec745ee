package kernel

import "testing"

// TestVectorAllocs verifies that no kernel allocates after its scratch memory has grown.
func TestVectorAllocs(t *testing.T) {
	const rows, width = 300, 32
	a, b, dst := random(rows*width, 1), random(rows*width, 2), make([]float32, rows*width)
	y, losses, sums := make([]float32, rows), make([]float64, rows), make([]float32, 2*width)
	n := Norm{Gamma: random(width, 3), Beta: random(width, 4), Mean: make([]float32, rows), Inv: make([]float32, rows), Epsilon: 1e-3}
	p := Pooling{H: 10, W: 10, C: 32, Height: 2, Width: 2, StrideH: 2, StrideW: 2}
	arg := make([]int32, len(a)/4)
	for _, s := range Sets() {
		e := New(s, 2)
		for name, f := range map[string]func(){
			"tanh":     func() { e.Tanh(dst, a); e.TanhGrad(dst, a, b, true) },
			"sum":      func() { e.SumRows(sums[:width], a, rows, true) },
			"softmax":  func() { e.Softmax(dst, losses, a, y, width, 0.1); e.SoftmaxGrad(dst, dst, y, y, width, 0.1) },
			"binary":   func() { e.Binary(dst[:rows], losses, a[:rows], y, 0); e.BinaryGrad(dst[:rows], a[:rows], y, y, 0) },
			"norm":     func() { e.LayerNorm(dst, a, n); e.LayerNormGrad(dst, sums[:width], sums[width:], b, a, n, true, true) },
			"dropout":  func() { e.Dropout(dst, a, rows, Drop{Rate: 0.5}, false) },
			"max_pool": func() { e.MaxPool(dst[:len(arg)], arg, a, p); e.MaxPoolGrad(dst, b[:len(arg)], arg, p, true) },
			"avg_pool": func() { e.AvgPool(dst[:len(arg)], a, p); e.AvgPoolGrad(dst, b[:len(arg)], p, true) },
		} {
			if got := testing.AllocsPerRun(5, f); got != 0 {
				t.Errorf("set=%v: %s allocates %v times, want 0", s, name, got)
			}
		}
		e.Close()
	}
}
