package kernel

import (
	"fmt"
	"math"
	"testing"
)

// names of the ops in messages.
var opNames = [opCount]string{
	"add", "multiply", "axpy", "scale", "divide", "addQuotient", "shift", "clamp", "average", "exp", "log", "tanh", "tanhGrad", "sigmoid", "sigmoidGrad",
	"gelu", "geluGrad", "relu", "reluGrad", "leakyReLU", "leakyReLUGrad",
}

// onEngines calls f with an engine of each set, of one thread and of three.
func onEngines(t *testing.T, f func(t *testing.T, e *Engine)) {
	for _, s := range Sets() {
		for _, threads := range []int{1, 3} {
			t.Run(fmt.Sprintf("set=%v/threads=%d", s, threads), func(t *testing.T) {
				e := New(s, threads)
				defer e.Close()
				f(t, e)
			})
		}
	}
}

// wild has numbers of all sizes, including zeros of both signs, denormals, infinities
// and NaN.
func wild(n int, seed uint64) []float32 {
	x := random(n, seed)
	odd := []float32{
		0, float32(math.Copysign(0, -1)), float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 1e-45, -1e-40,
		88.8, -88.8, 100, -104.5, 3e38, -3e38, 1e-30, 1, -1, 0.625, 0.921875, 4, 9.1, 17, 0x1p-126,
	}
	for i := range x {
		if h := uint32(i)*2654435761 + uint32(seed); h>>29 == 0 {
			x[i] = odd[int(h>>8)%len(odd)]
		} else if h>>29 == 1 {
			x[i] *= 12
		}
	}
	return x
}

// same reports whether x and y have equal bits; any two NaN are the same.
func same(x, y float32) bool {
	return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
}

func wantSame(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if !same(got[i], want[i]) {
			t.Fatalf("%s: element %d is %g (%#x), want %g (%#x)", what, i, got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

// TestOpsAgree verifies that every op gives the portable body's bits in every set, for
// each length and offset around a group, also in place, and does not change elements
// outside of dst.
func TestOpsAgree(t *testing.T) {
	const most, guard = 70, 16
	a, b := wild(most+guard, 1), wild(most+guard, 2)
	for o := range opCount {
		for _, s := range Sets() {
			t.Run(fmt.Sprintf("op=%s/set=%v", opNames[o], s), func(t *testing.T) {
				for n := range most {
					off := n % guard
					want, got := random(off+n+guard, 3), random(off+n+guard, 3)
					bodies[o](want[off:off+n], a[off:off+n], b[:n], 0.37)
					o.apply(s, got[off:off+n], a[off:off+n], b[:n], 0.37)
					wantSame(t, fmt.Sprintf("n=%d", n), got, want)
					copy(got[off:off+n], a[off:])
					o.apply(s, got[off:off+n], got[off:off+n], b[:n], 0.37)
					wantSame(t, fmt.Sprintf("in place, n=%d", n), got, want)
				}
			})
		}
	}
}

// TestOpsAgreeEverywhere verifies the same over numbers of all sizes.
func TestOpsAgreeEverywhere(t *testing.T) {
	var x []float32
	sweep(func(v float32) { x = append(x, v) }, 88.72284, 104, 0.625, 0.921875, 1)
	for len(x)%lanes != 0 {
		x = append(x, 1)
	}
	b := random(len(x), 2)
	want, got := make([]float32, len(x)), make([]float32, len(x))
	for o := range opCount {
		bodies[o](want, x, b, 0.37)
		for _, s := range Sets()[1:] {
			o.apply(s, got, x, b, 0.37)
			wantSame(t, fmt.Sprintf("op=%s/set=%v", opNames[o], s), got, want)
		}
		bodies[o](want, b, x, 0.37)
		for _, s := range Sets()[1:] {
			o.apply(s, got, b, x, 0.37)
			wantSame(t, fmt.Sprintf("second argument: op=%s/set=%v", opNames[o], s), got, want)
		}
	}
}

// TestGradients verifies each derivative against float64 differences of its formula,
// with and without add.
func TestGradients(t *testing.T) {
	cdf := func(x float64) float64 { return (1 + math.Erf(x/math.Sqrt2)) / 2 }
	onEngines(t, func(t *testing.T, e *Engine) {
		for _, c := range []struct {
			name     string
			exact    func(x float64) float64
			forward  func(y, x []float32)
			backward func(dx, dy, x, y []float32, add bool)
		}{
			{"tanh", math.Tanh, e.Tanh, func(dx, dy, _, y []float32, add bool) { e.TanhGrad(dx, dy, y, add) }},
			{"sigmoid", func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, e.Sigmoid,
				func(dx, dy, _, y []float32, add bool) { e.SigmoidGrad(dx, dy, y, add) }},
			{"gelu", func(x float64) float64 { return x * cdf(x) }, e.GELU,
				func(dx, dy, x, _ []float32, add bool) { e.GELUGrad(dx, dy, x, add) }},
			{"relu", func(x float64) float64 { return max(x, 0) }, e.ReLU,
				func(dx, dy, _, y []float32, add bool) { e.ReLUGrad(dx, dy, y, add) }},
			{"leaky_relu", func(x float64) float64 { return max(x, 0.3*x) }, func(y, x []float32) { e.LeakyReLU(y, x, 0.3) },
				func(dx, dy, _, y []float32, add bool) { e.LeakyReLUGrad(dx, dy, y, 0.3, add) }},
		} {
			const n, h = 20000, 1e-5
			x, dy := make([]float32, n), random(n, 4)
			y, dx, sum := make([]float32, n), make([]float32, n), random(n, 5)
			for i := range x {
				x[i] = float32(i-n/2)*0.0007 + 0.00035
			}
			c.forward(y, x)
			c.backward(dx, dy, x, y, false)
			c.backward(sum, dy, x, y, true)
			for i, first := range random(n, 5) {
				v := float64(x[i])
				if !(math.Abs(float64(y[i])-c.exact(v)) <= 3e-7*max(1, math.Abs(v))) {
					t.Fatalf("%s(%g) is %g, want %g", c.name, v, y[i], c.exact(v))
				}
				slope := (c.exact(v+h) - c.exact(v-h)) / (2 * h)
				if !(math.Abs(float64(dx[i])-slope*float64(dy[i])) <= 2e-6*math.Abs(float64(dy[i]))) {
					t.Fatalf("%s'(%g)·%g is %g, want %g", c.name, v, dy[i], dx[i], slope*float64(dy[i]))
				}
				if sum[i] != first+dx[i] {
					t.Fatalf("%s: added to %g it is %g, want %g", c.name, first, sum[i], first+dx[i])
				}
			}
		}
	})
}

// TestLinear verifies add, sum, axpy, scale and log of an engine.
func TestLinear(t *testing.T) {
	onEngines(t, func(t *testing.T, e *Engine) {
		const n = 40001
		a, b := random(n, 1), random(n, 2)
		dst := make([]float32, n)
		for _, c := range []struct {
			name string
			f    func()
			want func(i int) float32
		}{
			{"add", func() { copy(dst, a); e.Add(dst, b) }, func(i int) float32 { return a[i] + b[i] }},
			{"sum", func() { e.Sum(dst, a, b) }, func(i int) float32 { return a[i] + b[i] }},
			{"axpy", func() { copy(dst, a); e.Axpy(dst, b, 0.3) }, func(i int) float32 { return a[i] + float32(b[i]*0.3) }},
			{"scale", func() { copy(dst, a); e.Scale(dst, 0.3) }, func(i int) float32 { return a[i] * 0.3 }},
			{"clamp", func() { copy(dst, a); e.Clamp(dst, 0.3) }, func(i int) float32 { return max(-0.3, min(0.3, a[i])) }},
			{"average", func() { copy(dst, a); e.Average(dst, b, 0.3) }, func(i int) float32 { return a[i] - float32((a[i]-b[i])*0.3) }},
			{"log", func() { e.Log(dst, a) }, func(i int) float32 { return log32(a[i]) }},
		} {
			c.f()
			for i, v := range dst {
				if !same(v, c.want(i)) {
					t.Fatalf("%s: element %d is %g, want %g", c.name, i, v, c.want(i))
				}
			}
		}
	})
}

// TestDifferentLengths verifies that slices of different lengths panic.
func TestDifferentLengths(t *testing.T) {
	defer func() {
		if recover() != "kernel: slices of different lengths" {
			t.Error("want a panic that says so")
		}
	}()
	New(Portable, 1).Add(make([]float32, 2), make([]float32, 3))
}

// BenchmarkOps measures a million elements, which fit the L3 cache.
func BenchmarkOps(b *testing.B) {
	const n = 1 << 20
	x, y, dst := random(n, 1), random(n, 2), make([]float32, n)
	for o := range opCount {
		for _, s := range Sets() {
			b.Run(fmt.Sprintf("op=%s/set=%v", opNames[o], s), func(b *testing.B) {
				b.SetBytes(4 * n)
				for b.Loop() {
					o.apply(s, dst, x, y, 0.5)
				}
			})
		}
	}
}
