package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// shapes are the edges of tiles and of the unrolled loop, and what job mnist
// and a small mlp need.
var shapes = []product{
	{0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {1, 1, 1}, {2, 3, 5}, {25, 10, 784}, {784, 10, 25}, {63, 191, 7}, {64, 192, 8},
	{65, 193, 9}, {130, 400, 3}, {5, 4, 6}, {5, 4, 7},
}

func (p product) String() string { return fmt.Sprintf("m=%d/n=%d/k=%d", p.m, p.n, p.k) }

func random(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n)
	for i := range x {
		if r.IntN(4) > 0 { // a quarter are zeros, which the kernels may skip
			x[i] = float32(r.NormFloat64())
		}
	}
	return x
}

// oracle is the product in float64: at(i, l) of a and at(l, j) of b, and how
// large the summands are together.
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
			// k+1 roundings of partial sums, each half a unit of 2⁻²³.
			bound := float64(p.k+1) * size * 0x1p-23
			if got := float64(dst[i*p.n+j]); !(math.Abs(got-want) <= bound) {
				t.Fatalf("element [%d, %d] is %g, want %g ± %g", i, j, got, want, bound)
			}
		}
	}
}

func dirty(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.NaN())
	}
	return x
}

// TestProducts compares the three products with float64 sums. A wrong stride, a
// tile left out or a result that keeps what dst held before would show.
func TestProducts(t *testing.T) {
	for _, p := range shapes {
		t.Run(p.String(), func(t *testing.T) {
			a, b, bias := random(p.m*p.k, 1), random(p.k*p.n, 2), random(p.n, 3)
			plainA := func(i, l int) float32 { return a[i*p.k+l] }
			plainB := func(l, j int) float32 { return b[l*p.n+j] }

			dst := dirty(p.m * p.n)
			Gemm(dst, a, b, bias, p.m, p.n, p.k)
			compare(t, p, dst, plainA, plainB, bias)

			dst = dirty(p.m * p.n)
			Gemm(dst, a, b, nil, p.m, p.n, p.k)
			compare(t, p, dst, plainA, plainB, nil)

			dst = dirty(p.m * p.n)
			GemmTA(dst, a, b, p.m, p.n, p.k)
			compare(t, p, dst, func(i, l int) float32 { return a[l*p.m+i] }, plainB, nil)

			dst = dirty(p.m * p.n)
			GemmTB(dst, a, b, p.m, p.n, p.k)
			compare(t, p, dst, plainA, func(l, j int) float32 { return b[j*p.k+l] }, nil)
		})
	}
}

// TestRowsAlone checks that a row of the result has the same bits whether it is
// computed alone or among others, and wherever its operands lie in memory. If
// not, predictions would depend on the batch and a run on its number of ranks.
func TestRowsAlone(t *testing.T) {
	const m, n, k = 70, 200, 67
	a, b, bias := random(m*k, 1), random(k*n, 2), random(n, 3)
	all, allTB := make([]float32, m*n), make([]float32, m*n)
	Gemm(all, a, b, bias, m, n, k)
	GemmTB(allTB, a, b, m, n, k)
	for shift := range 4 {
		moved := append(make([]float32, shift), b...)[shift:]
		row := make([]float32, shift+n)[shift:]
		for i := range m {
			Gemm(row, a[i*k:(i+1)*k], moved, bias, 1, n, k)
			equal(t, "Gemm", i, row, all[i*n:(i+1)*n])
			GemmTB(row, a[i*k:(i+1)*k], moved, 1, n, k)
			equal(t, "GemmTB", i, row, allTB[i*n:(i+1)*n])
		}
	}
}

func equal(t *testing.T, what string, row int, got, want []float32) {
	t.Helper()
	for j := range want {
		if math.Float32bits(got[j]) != math.Float32bits(want[j]) {
			t.Fatalf("%s: row %d alone: element %d is %g, among others %g", what, row, j, got[j], want[j])
		}
	}
}

// TestNoAllocs: a product that allocates, or starts goroutines, would do so in
// every step of training. The sizes lie beyond gonum's limit for goroutines.
func TestNoAllocs(t *testing.T) {
	const m, n, k = 300, 400, 8
	a, b, dst := random(m*k, 1), random(k*n, 2), make([]float32, m*n)
	for name, f := range map[string]func(){
		"Gemm":   func() { Gemm(dst, a, b, nil, m, n, k) },
		"GemmTA": func() { GemmTA(dst, a, b, m, n, k) },
		"GemmTB": func() { GemmTB(dst, a, b, m, n, k) },
	} {
		if got := testing.AllocsPerRun(5, f); got != 0 {
			t.Errorf("%s allocates %v times, want 0", name, got)
		}
	}
}

// TestWrongLength: a shape that does not fit is the caller's bug and must not
// read or write elsewhere.
func TestWrongLength(t *testing.T) {
	two := make([]float32, 2)
	for name, f := range map[string]func(){
		"Gemm":   func() { Gemm(two, two, two, nil, 1, 2, 2) },
		"bias":   func() { Gemm(two, two, two, two[:1], 2, 1, 1) },
		"GemmTA": func() { GemmTA(two, two, two, 1, 2, 2) },
		"GemmTB": func() { GemmTB(two, two, two, 1, 2, 2) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if fault, _ := recover().(string); !strings.HasSuffix(fault, ": length does not match shape") {
					t.Errorf("panic %q, want that the length does not match", fault)
				}
			}()
			f()
		})
	}
}

// BenchmarkProducts has the products of job mnist at 25 examples a rank, on
// dense input (an image of MNIST has four zeros in five), and one of an mlp.
func BenchmarkProducts(b *testing.B) {
	for _, p := range []product{{25, 10, 784}, {100, 10, 784}, {100, 300, 784}} {
		x, w, dy := random(p.m*p.k, 1), random(p.k*p.n, 2), random(p.m*p.n, 3)
		y, dw, dx := make([]float32, p.m*p.n), make([]float32, p.k*p.n), make([]float32, p.m*p.k)
		for name, f := range map[string]func(){
			"Gemm":   func() { Gemm(y, x, w, nil, p.m, p.n, p.k) },
			"GemmTA": func() { GemmTA(dw, x, dy, p.k, p.n, p.m) },
			"GemmTB": func() { GemmTB(dx, dy, w, p.m, p.k, p.n) },
		} {
			b.Run(fmt.Sprintf("op=%s/batch=%d/in=%d/out=%d", name, p.m, p.k, p.n), func(b *testing.B) {
				for b.Loop() {
					f()
				}
				flop := 2 * float64(p.m) * float64(p.n) * float64(p.k) * float64(b.N)
				b.ReportMetric(flop/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
