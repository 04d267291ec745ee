package kernel

import (
	"fmt"
	"math"
	"testing"
)

// engines are one Engine of each set and number of threads.
func engines(t testing.TB, threads ...int) []*Engine {
	var all []*Engine
	for _, s := range Sets() {
		for _, n := range threads {
			e := New(s, n)
			t.Cleanup(e.Close)
			all = append(all, e)
		}
	}
	return all
}

func (e *Engine) String() string { return fmt.Sprintf("set=%v/threads=%d", e.set, len(e.threads)) }

// edges are sizes around the edges of tiles, panels and ranges of k.
var edges = []product{
	{0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {1, 1, 1}, {2, 3, 5}, {25, 10, 784}, {784, 10, 25}, {5, 4, 7},
	{13, 15, 255}, {14, 16, 256}, {15, 17, 257}, {27, 31, 3}, {28, 32, 16}, {29, 33, 17}, {6, 48, 5}, {7, 47, 512}, {12, 63, 1},
	{42, 64, 513}, {43, 65, 31}, {100, 257, 4}, {64, 512, 300}, {301, 100, 64},
}

// TestEngineProducts compares the products of every set with float64 sums. The
// bound is that of k+1 roundings, which the comment of Gemm states.
func TestEngineProducts(t *testing.T) {
	for _, e := range engines(t, 1, 3) {
		for _, p := range edges {
			t.Run(e.String()+"/"+p.String(), func(t *testing.T) {
				a, b, bias := random(p.m*p.k, 1), random(p.k*p.n, 2), random(p.n, 3)
				plainA := func(i, l int) float32 { return a[i*p.k+l] }
				plainB := func(l, j int) float32 { return b[l*p.n+j] }
				otherA := func(i, l int) float32 { return a[l*p.m+i] }
				otherB := func(l, j int) float32 { return b[j*p.k+l] }

				dst := dirty(p.m * p.n)
				e.Gemm(dst, a, b, bias, p.m, p.n, p.k, None)
				compare(t, p, dst, plainA, plainB, bias)

				plain := dst
				dst = dirty(p.m * p.n)
				e.Gemm(dst, a, b, bias, p.m, p.n, p.k, ReLU)
				for i, v := range dst {
					if v != max(plain[i], 0) {
						t.Fatalf("relu of %g is %g", plain[i], v)
					}
				}
				dst = dirty(p.m * p.n)
				e.GemmTA(dst, a, b, p.m, p.n, p.k, false)
				compare(t, p, dst, otherA, plainB, nil)

				dst = dirty(p.m * p.n)
				e.GemmTB(dst, a, b, p.m, p.n, p.k, false)
				compare(t, p, dst, plainA, otherB, nil)
			})
		}
	}
}

// sameBits fails unless the slices have equal bits, NaNs apart.
func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, got[i], want[i])
		}
	}
}
