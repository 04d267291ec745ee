package kernel

import (
	"fmt"
	"math"
	"testing"
)

var poolings = []Pooling{
	{H: 4, W: 4, C: 3, Height: 2, Width: 2, StrideH: 2, StrideW: 2},
	{H: 5, W: 7, C: 1, Height: 2, Width: 2, StrideH: 2, StrideW: 2},
	{H: 5, W: 7, C: 2, Height: 2, Width: 2, StrideH: 2, StrideW: 2, Same: true},
	{H: 6, W: 5, C: 17, Height: 3, Width: 2, StrideH: 1, StrideW: 2, Same: true},
	{H: 7, W: 6, C: 33, Height: 3, Width: 3, StrideH: 2, StrideW: 1},
	{H: 3, W: 3, C: 8, Height: 5, Width: 5, StrideH: 1, StrideW: 1, Same: true},
	{H: 9, W: 9, C: 5, Height: 2, Width: 2, StrideH: 3, StrideW: 4, Same: true},
	{H: 1, W: 1, C: 4, Height: 1, Width: 1, StrideH: 1, StrideW: 1},
	{H: 8, W: 8, C: 32, Height: 2, Width: 2, StrideH: 2, StrideW: 2},
}

// cells calls f for the cells of window [oy, ox] inside the image: an independent
// implementation of TensorFlow's padding.
func cells(p Pooling, oy, ox int, f func(row, col, cell int)) {
	outH, outW := p.Out()
	top, left := 0, 0
	if p.Same {
		top = max(0, (outH-1)*p.StrideH+p.Height-p.H) / 2
		left = max(0, (outW-1)*p.StrideW+p.Width-p.W) / 2
	}
	for i := range p.Height {
		for j := range p.Width {
			r, c := oy*p.StrideH-top+i, ox*p.StrideW-left+j
			if r >= 0 && r < p.H && c >= 0 && c < p.W {
				f(r, c, i*p.Width+j)
			}
		}
	}
}

// TestPooling verifies both poolings and their gradients, element by element, against
// loops over the definition, with and without add.
func TestPooling(t *testing.T) {
	onEngines(t, func(t *testing.T, e *Engine) {
		for _, p := range poolings {
			poolingCase(t, e, p)
		}
	})
}

func poolingCase(t *testing.T, e *Engine, p Pooling) {
	const n = 3
	what := fmt.Sprintf("%+v", p)
	h, w := p.Out()
	in, out := p.H*p.W*p.C, h*w*p.C
	x, dy := random(n*in, 1), random(n*out, 2)
	x[in/2] = float32(math.NaN())
	top, mean, arg := make([]float32, n*out), make([]float32, n*out), make([]int32, n*out)
	dTop, dMean := make([]float32, n*in), make([]float32, n*in)
	for i := range n * h * w {
		image, oy, ox := i/(h*w), i/w%h, i%w
		for c := range p.C {
			at := func(r, s int) int { return image*in + (r*p.W+s)*p.C + c }
			best, sum, count, index := float32(math.Inf(-1)), float32(0), float32(0), 0
			cells(p, oy, ox, func(r, s, cell int) {
				if v := x[at(r, s)]; count == 0 || v > best || v != v {
					best, arg[i*p.C+c], index = v, int32(cell), at(r, s)
				}
				sum += x[at(r, s)]
				count++
			})
			top[i*p.C+c], mean[i*p.C+c] = best, sum/count
			dTop[index] += dy[i*p.C+c]
			cells(p, oy, ox, func(r, s, _ int) { dMean[at(r, s)] += dy[i*p.C+c] / count })
		}
	}
	got, gotArg, dx := dirty(n*out), make([]int32, n*out), dirty(n*in)
	e.MaxPool(got, gotArg, x, p)
	wantSame(t, what+": max", got, top)
	for i := range arg {
		if arg[i] != gotArg[i] {
			t.Fatalf("%s: cell of output %d is %d, want %d", what, i, gotArg[i], arg[i])
		}
	}
	copy(got, dirty(n*out))
	e.MaxPool(got, nil, x, p)
	wantSame(t, what+": max alone", got, top)
	e.MaxPoolGrad(dx, dy, arg, p, false)
	wantSame(t, what+": gradient of max", dx, dTop)
	e.AvgPool(got, x, p)
	wantSame(t, what+": mean", got, mean)
	e.AvgPoolGrad(dx, dy, p, false)
	wantSame(t, what+": gradient of mean", dx, dMean)
	first := random(len(dx), 3)
	copy(dx, first)
	e.MaxPoolGrad(dx, dy, arg, p, true)
	for i, v := range dx {
		if !(math.Abs(float64(v-(first[i]+dTop[i]))) <= 1e-5) {
			t.Fatalf("%s: gradient of max %d added to %g is %g, want %g", what, i, first[i], v, first[i]+dTop[i])
		}
	}
	clear(dx)
	e.AvgPoolGrad(dx, dy, p, true)
	e.AvgPoolGrad(dx, dy, p, true)
	for i, v := range dx {
		if !(math.Abs(float64(v-2*dMean[i])) <= 1e-5) {
			t.Fatalf("%s: gradient %d added twice is %g, want %g", what, i, v, 2*dMean[i])
		}
	}
}

// TestGlobalAvgPool verifies the mean over all cells.
func TestGlobalAvgPool(t *testing.T) {
	onEngines(t, func(t *testing.T, e *Engine) {
		const n, count, c = 3, 20, 19
		x, y, dx := random(n*count*c, 1), make([]float32, n*c), dirty(n*count*c)
		e.GlobalAvgPool(y, x, count, c)
		e.GlobalAvgPoolGrad(dx, y, count, c, false)
		for i := range n {
			for j := range c {
				sum := float32(0)
				for k := range count {
					sum += x[(i*count+k)*c+j]
				}
				if y[i*c+j] != sum/count {
					t.Fatalf("mean [%d, %d] is %g, want %g", i, j, y[i*c+j], sum/count)
				}
				for k := range count {
					if got := dx[(i*count+k)*c+j]; got != y[i*c+j]/count {
						t.Fatalf("gradient of cell %d is %g, want %g", k, got, y[i*c+j]/count)
					}
				}
			}
		}
	})
}

// BenchmarkPooling measures the poolings of preset cnn at batch 128.
func BenchmarkPooling(b *testing.B) {
	for _, p := range []Pooling{
		{H: 28, W: 28, C: 32, Height: 2, Width: 2, StrideH: 2, StrideW: 2},
		{H: 14, W: 14, C: 64, Height: 2, Width: 2, StrideH: 2, StrideW: 2},
	} {
		n := 128 * p.H * p.W * p.C
		x, dx := random(n, 1), make([]float32, n)
		y, arg := make([]float32, n/4), make([]int32, n/4)
		for _, s := range Sets() {
			e := New(s, 1)
			for name, f := range map[string]func(){
				"max": func() { e.MaxPool(y, arg, x, p) }, "maxGrad": func() { e.MaxPoolGrad(dx, y, arg, p, false) },
				"mean": func() { e.AvgPool(y, x, p) }, "meanGrad": func() { e.AvgPoolGrad(dx, y, p, false) },
			} {
				b.Run(fmt.Sprintf("op=%s/h=%d/c=%d/set=%v", name, p.H, p.C, s), func(b *testing.B) {
					b.SetBytes(int64(4 * n))
					for b.Loop() {
						f()
					}
				})
			}
		}
	}
}

// BenchmarkSumRows measures the bias gradients of preset cnn and of a wide layer.
func BenchmarkSumRows(b *testing.B) {
	for _, c := range []struct{ rows, cols int }{{100, 10}, {128 * 28 * 28, 32}, {128 * 14 * 14, 64}, {128, 2048}} {
		m, dst := random(c.rows*c.cols, 1), make([]float32, c.cols)
		for _, s := range Sets() {
			e := New(s, 1)
			b.Run(fmt.Sprintf("rows=%d/cols=%d/set=%v", c.rows, c.cols, s), func(b *testing.B) {
				b.SetBytes(int64(4 * len(m)))
				for b.Loop() {
					e.SumRows(dst, m, c.rows, false)
				}
			})
		}
	}
}
