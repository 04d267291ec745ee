package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// few returns n values, about one in five not zero.
func few(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 2))
	x := make([]float32, n)
	for i := range x {
		if r.IntN(100) < 19 {
			x[i] = float32(r.NormFloat64())
		}
	}
	return x
}

// TestNonZeros verifies that products of lists have the bits of the products of the
// matrix, for every set and number of threads, with empty and full rows, and with add,
// bias and ReLU. Memory around dst does not change.
func TestNonZeros(t *testing.T) {
	const guard = 16
	for _, e := range engines(t, 1, 3) {
		var z NonZeros
		for _, s := range []product{
			{1, 1, 20}, {2, 10, 784}, {3, 16, 100}, {4, 8, 50}, {5, 7, 64}, {50, 10, 784}, {7, 17, 33}, {9, 32, 15}, {13, 33, 40}, {26, 512, 100}, {300, 40, 90},
		} {
			t.Run(fmt.Sprintf("%v/%v", e, s), func(t *testing.T) {
				x := few(s.m*s.k, 1)
				if s.m > 4 && s.k < 700 {
					clear(x[s.k : 2*s.k])
					copy(x[2*s.k:3*s.k], dense(s.k, 5))
				}
				w, bias, dy := random(s.k*s.n, 2), random(s.n, 3), random(s.m*s.n, 4)
				if !e.list(&z, x, s.m, s.k, len(x)) {
					t.Fatal("list reports too many elements")
				}
				for _, add := range []bool{false, true} {
					got := random(s.m*s.n+2*guard, 6)
					want := append([]float32(nil), got...)
					act := None
					if add {
						act = ReLU
					}
					e.GemmNonZeros(got[guard:guard+s.m*s.n], &z, w, bias, s.n, act)
					e.Gemm(want[guard:guard+s.m*s.n], x, w, bias, s.m, s.n, s.k, act)
					sameBits(t, "GemmNonZeros", got, want)
					for range 2 { // by scatter if b is narrow, then by columns
						got = random(s.k*s.n+2*guard, 6)
						want = append([]float32(nil), got...)
						e.GemmNonZerosTA(got[guard:guard+s.k*s.n], &z, dy, s.n, add)
						e.GemmTA(want[guard:guard+s.k*s.n], x, dy, s.k, s.n, s.m, add)
						sameBits(t, "GemmNonZerosTA", got, want)
						z.listColumns()
					}
				}
			})
		}
	}
}

// TestScan verifies the lists of a scan for every length around a vector, and that a NaN
// is an element.
func TestScan(t *testing.T) {
	for _, e := range engines(t, 1) {
		var z NonZeros
		for n := range 70 {
			x := append(few(n, uint64(n)), make([]float32, 4*n)...) // few enough
			if n > 3 {
				x[3] = dirty(1)[0]
			}
			if !e.list(&z, x, 1, len(x), len(x)) {
				t.Fatalf("%v: n=%d: list reports too many", e, n)
			}
			at := 0
			for j, v := range x {
				if v == 0 {
					continue
				}
				if int(z.byRow.index[at]) != j || (z.byRow.value[at] != v && v == v) {
					t.Fatalf("%v: n=%d: element %d is %g of column %d, want %g of %d", e, n, at, z.byRow.value[at], z.byRow.index[at], v, j)
				}
				at++
			}
			if z.Len() != at {
				t.Fatalf("%v: n=%d: %d elements, want %d", e, n, z.Len(), at)
			}
		}
	}
}

// TestScanTooMany verifies that one element above the limit is too many.
func TestScanTooMany(t *testing.T) {
	for _, e := range engines(t, 1) {
		var z NonZeros
		for _, n := range []int{10, 512} {
			x := make([]float32, 50*784)
			limit := int(e.set.densityThatPays(n) * float64(len(x)))
			copy(x[len(x)-limit:], dense(limit, 1))
			if !e.Scan(&z, x, 50, 784, n) || z.Len() != limit {
				t.Errorf("%v: n=%d: Scan of %d elements finds %d, or that they are too many", e, n, limit, z.Len())
			}
			x[0] = 1
			if e.Scan(&z, x, 50, 784, n) {
				t.Errorf("%v: n=%d: Scan reports that lists of more than %d elements pay", e, n, limit)
			}
			if z.Len() != 0 {
				t.Errorf("%v: n=%d: a list that does not pay has %d elements, want 0", e, n, z.Len())
			}
		}
	}
}

// TestNonZerosAllocs verifies that lists and their products allocate nothing after their
// memory has grown.
func TestNonZerosAllocs(t *testing.T) {
	const m, k = 50, 200
	x := few(m*k, 1)
	for _, e := range engines(t, 1, 2) {
		for _, n := range []int{10, 100} {
			w, y := random(k*n, 2), random(m*n, 3)
			var z NonZeros
			if got := testing.AllocsPerRun(5, func() {
				e.list(&z, x, m, k, len(x))
				e.GemmNonZeros(y, &z, w, nil, n, None)
				e.GemmNonZerosTA(w, &z, y, n, false)
			}); got != 0 {
				t.Errorf("%v: n=%d: %v allocations, want 0", e, n, got)
			}
		}
	}
}

// TestScanGivesUp verifies that a scan of a dense matrix allocates memory for its first
// rows only.
func TestScanGivesUp(t *testing.T) {
	for _, e := range engines(t, 1) {
		var z NonZeros
		const rows, cols = 1000, 100
		if e.Scan(&z, dense(rows*cols, 1), rows, cols, 512) {
			t.Fatalf("%v: Scan reports that lists of a dense matrix pay", e)
		}
		if got := len(z.byRow.index); got > (firstRows+1)*cols {
			t.Errorf("%v: Scan has room for %d elements, want %d rows of %d", e, got, firstRows, cols)
		}
	}
}

// BenchmarkNonZeros measures a scan with both products of lists, and the dense products,
// at the density of MNIST.
func BenchmarkNonZeros(b *testing.B) {
	for _, e := range engines(b, 1) {
		for _, p := range []product{{50, 10, 784}, {100, 10, 784}, {128, 512, 784}, {256, 512, 784}} {
			x, w, y := few(p.m*p.k, 1), random(p.k*p.n, 2), random(p.m*p.n, 3)
			dw := make([]float32, len(w))
			var z NonZeros
			e.list(&z, x, p.m, p.k, len(x))
			for _, c := range []struct {
				op string
				f  func()
			}{
				{"scan", func() { e.list(&z, x, p.m, p.k, len(x)) }},
				{"ab-list", func() { e.GemmNonZeros(y, &z, w, nil, p.n, None) }},
				{"ab-dense", func() { e.Gemm(y, x, w, nil, p.m, p.n, p.k, None) }},
				{"ta-list", func() { z.hasByCol = false; e.GemmNonZerosTA(dw, &z, y, p.n, false) }},
				{"ta-dense", func() { e.GemmTA(dw, x, y, p.k, p.n, p.m, false) }},
			} {
				b.Run(fmt.Sprintf("set=%v/op=%s/m=%d/n=%d/k=%d", e.set, c.op, p.m, p.n, p.k), func(b *testing.B) {
					for b.Loop() {
						c.f()
					}
				})
			}
		}
	}
}
