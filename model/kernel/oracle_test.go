package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// product is the size of a matrix product: dst [m, n], summed over k.
type product struct{ m, n, k int }

func (p product) String() string { return fmt.Sprintf("m=%d/n=%d/k=%d", p.m, p.n, p.k) }

func random(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n)
	for i := range x {
		if r.IntN(4) > 0 { // a quarter of them zeros, which the kernels may skip
			x[i] = float32(r.NormFloat64())
		}
	}
	return x
}

// oracle returns the product in float64 of at(i, l) of a and at(l, j) of b, and the sum
// of the absolute summands.
func oracle(p product, a, b func(i, j int) float32, i, j int) (sum, size float64) {
	for l := range p.k {
		v := float64(a(i, l)) * float64(b(l, j))
		sum += v
		size += math.Abs(v)
	}
	return sum, size
}

func compare(t *testing.T, p product, dst []float32, a, b func(i, j int) float32, bias []float32) {
	t.Helper()
	for i := range p.m {
		for j := range p.n {
			want, size := oracle(p, a, b, i, j)
			if bias != nil {
				want += float64(bias[j])
				size += math.Abs(float64(bias[j]))
			}
			bound := roundings(p.k+1) * size
			if got := float64(dst[i*p.n+j]); !(math.Abs(got-want) <= bound) {
				t.Fatalf("element [%d, %d] is %g, want %g ± %g", i, j, got, want, bound)
			}
		}
	}
}

// roundings returns a bound of the relative error of n consecutive roundings to float32.
func roundings(n int) float64 { return float64(n) * 0x1p-24 * (1 + float64(n)*0x1p-23) }

func dirty(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.NaN())
	}
	return x
}
