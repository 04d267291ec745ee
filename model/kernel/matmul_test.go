package kernel

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// engines has one Engine per set and number of threads. Small products also run on all
// threads.
func engines(t testing.TB, threads ...int) []*Engine {
	var all []*Engine
	for _, s := range Sets() {
		for _, n := range threads {
			e := New(s, n)
			e.worth = 1
			t.Cleanup(e.Close)
			all = append(all, e)
		}
	}
	return all
}

func (e *Engine) String() string { return fmt.Sprintf("set=%v/threads=%d", e.set, len(e.threads)) }

// edges has sizes around the limits of tiles, panels and ranges of k.
var edges = []product{
	{0, 3, 2}, {3, 0, 2}, {3, 2, 0}, {1, 1, 1}, {2, 3, 5}, {25, 10, 784}, {784, 10, 25}, {5, 4, 7},
	{13, 15, 255}, {14, 16, 256}, {15, 17, 257}, {27, 31, 3}, {28, 32, 16}, {29, 33, 17}, {6, 48, 5}, {7, 47, 512}, {12, 63, 1},
	{42, 64, 513}, {43, 65, 31}, {100, 257, 4}, {64, 512, 300}, {301, 100, 64},
}

// form is one of the three products, with operands transposed or not.
type form struct {
	name   string
	tA, tB bool
}

var forms = []form{{"Gemm", false, false}, {"GemmTA", true, false}, {"GemmTB", false, true}}

// run computes the product of operands of shape [m, k] and [k, n] or transposed.
func (f form) run(e *Engine, dst, a, b []float32, p product, add bool) {
	switch {
	case f.tA:
		e.GemmTA(dst, a, b, p.m, p.n, p.k, add)
	case f.tB:
		e.GemmTB(dst, a, b, p.m, p.n, p.k, add)
	default:
		e.Gemm(dst, a, b, nil, p.m, p.n, p.k, None)
	}
}

// at returns functions that read elements [i, l] of a and [l, j] of b.
func (f form) at(a, b []float32, p product) (atA, atB func(i, j int) float32) {
	atA = func(i, l int) float32 { return a[i*p.k+l] }
	atB = func(l, j int) float32 { return b[l*p.n+j] }
	if f.tA {
		atA = func(i, l int) float32 { return a[l*p.m+i] }
	}
	if f.tB {
		atB = func(l, j int) float32 { return b[j*p.k+l] }
	}
	return atA, atB
}

// TestBound verifies every form and set against sums in float64, within the bound in the
// comment of Gemm.
func TestBound(t *testing.T) {
	for _, e := range engines(t, 1) {
		for _, p := range edges {
			for _, f := range forms {
				t.Run(fmt.Sprintf("%v/%s/%v", e, f.name, p), func(t *testing.T) {
					a, b := random(p.m*p.k, 1), random(p.k*p.n, 2)
					dst := dirty(p.m * p.n)
					f.run(e, dst, a, b, p, false)
					atA, atB := f.at(a, b, p)
					compare(t, p, dst, atA, atB, nil)
				})
			}
		}
	}
}

// chain returns the defining sum of an element: from s on, in ascending order of k, each
// product fused or rounded first.
func chain(s float32, k int, fused bool, a, b func(l int) float32) float32 {
	for l := range k {
		if fused {
			s = fma(a(l), b(l), s)
		} else {
			s += float32(a(l) * b(l))
		}
	}
	return s
}

// fma returns a·b+c, rounded once. The product is exact in float64. The sum is rounded
// to odd, so that the second rounding is correct.
func fma(a, b, c float32) float32 {
	p, d := float64(a)*float64(b), float64(c)
	s := p + d
	if math.IsNaN(s) || math.IsInf(s, 0) {
		return float32(s)
	}
	v := s - p
	lost := (p - (s - v)) + (d - v)
	if bits := math.Float64bits(s); lost != 0 && bits&1 == 0 {
		if (lost > 0) == (s > 0) {
			s = math.Float64frombits(bits + 1)
		} else {
			s = math.Float64frombits(bits - 1)
		}
	}
	return float32(s)
}

// TestChain verifies that each element of every form and set is exactly its defining
// sum, on 1 and 3 threads, with and without add, bias and ReLU, at any alignment, and
// that memory around dst does not change.
func TestChain(t *testing.T) {
	const guard = 16
	for _, e := range engines(t, 1, 3) {
		for n, p := range edges {
			if p.m*p.n*p.k > 1<<21 {
				continue // TestSameBits has large ones
			}
			t.Run(fmt.Sprintf("%v/%v", e, p), func(t *testing.T) {
				off := n % guard
				a, b, bias := random(off+p.m*p.k, 1)[off:], random(off+p.k*p.n, 2)[off:], random(off+p.n, 3)[off:]
				for _, f := range forms {
					atA, atB := f.at(a, b, p)
					for _, add := range []bool{false, true} {
						all := random(p.m*p.n+2*guard, 4)
						before := slices.Clone(all)
						dst := all[off : off+p.m*p.n]
						start := func(int) float32 { return 0 }
						if add {
							start = func(i int) float32 { return before[off+i] }
						}
						end := func(s float32, j int) float32 { return s }
						if !f.tA && !f.tB {
							if add {
								start = func(int) float32 { return 0 }
								end = func(s float32, j int) float32 { return max(s+bias[j], 0) }
								e.Gemm(dst, a, b, bias, p.m, p.n, p.k, ReLU)
							} else {
								end = func(s float32, j int) float32 { return s + bias[j] }
								e.Gemm(dst, a, b, bias, p.m, p.n, p.k, None)
							}
						} else {
							f.run(e, dst, a, b, p, add)
						}
						for i := range p.m {
							for j := range p.n {
								s := chain(start(i*p.n+j), p.k, e.set != Portable, func(l int) float32 { return atA(i, l) }, func(l int) float32 { return atB(l, j) })
								before[off+i*p.n+j] = end(s, j)
							}
						}
						sameBits(t, f.name, all, before)
					}
				}
			})
		}
	}
}

// TestSameBits verifies that a row has the same bits alone, in a matrix, at another
// address, on any number of threads, and in AVX2 and AVX512.
func TestSameBits(t *testing.T) {
	for _, p := range []product{{70, 200, 67}, {130, 300, 600}, {9, 700, 40}, {700, 10, 50}} {
		a, b, bias := random(p.m*p.k, 1), random(p.k*p.n, 2), random(p.n, 3)
		tr := random(p.n*p.k, 4)
		want := map[Set][2][]float32{}
		for _, e := range engines(t, 1, 2, 4) {
			got := [2][]float32{make([]float32, p.m*p.n), make([]float32, p.m*p.n)}
			e.Gemm(got[0], a, b, bias, p.m, p.n, p.k, ReLU)
			e.GemmTB(got[1], a, tr, p.m, p.n, p.k, false)
			set := min(e.set, AVX2)
			if want[set][0] == nil {
				want[set] = got
			}
			sameBits(t, fmt.Sprintf("%v %v Gemm", e, p), got[0], want[set][0])
			sameBits(t, fmt.Sprintf("%v %v GemmTB", e, p), got[1], want[set][1])
			row := make([]float32, p.n+1)[1:]
			for i := 0; i < p.m; i += 1 + p.m/40 {
				x := append(make([]float32, i%4), a[i*p.k:(i+1)*p.k]...)[i%4:]
				e.Gemm(row, x, b, bias, 1, p.n, p.k, ReLU)
				sameBits(t, "one row of Gemm", row, got[0][i*p.n:(i+1)*p.n])
				e.GemmTB(row, x, tr, 1, p.n, p.k, false)
				sameBits(t, "one row of GemmTB", row, got[1][i*p.n:(i+1)*p.n])
			}
		}
	}
}

// TestNotFinite verifies that a NaN or an infinity reaches exactly the elements whose
// sums contain it, also through ReLU and with a factor of zero.
func TestNotFinite(t *testing.T) {
	const m, n, k = 20, 40, 30
	for _, e := range engines(t, 1) {
		for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
			a, b := make([]float32, m*k), make([]float32, k*n)
			a[7*k+3] = bad
			dst := dirty(m * n)
			e.Gemm(dst, a, b, nil, m, n, k, ReLU)
			for i, v := range dst {
				if (v != v) != (i/n == 7) {
					t.Fatalf("%v: with %g in row 7, element [%d, %d] is %g", e, bad, i/n, i%n, v)
				}
			}
			a[7*k+3], b[5*n+33] = 0, bad
			e.Gemm(dst, a, b, nil, m, n, k, None)
			for i, v := range dst {
				if (v != v) != (i%n == 33) {
					t.Fatalf("%v: with %g in column 33, element [%d, %d] is %g", e, bad, i/n, i%n, v)
				}
			}
		}
	}
}

// TestEngineAllocs verifies that products allocate nothing after the scratch memory has
// grown.
func TestEngineAllocs(t *testing.T) {
	const m, n, k = 60, 400, 300
	a, b, dst := random(m*k, 1), random(k*n, 2), make([]float32, m*n)
	for _, e := range engines(t, 1, 2) {
		for _, f := range forms {
			if got := testing.AllocsPerRun(5, func() { f.run(e, dst, a, b, product{m, n, k}, false) }); got != 0 {
				t.Errorf("%v: %s allocates %v times, want 0", e, f.name, got)
			}
		}
	}
}

// TestEngineWrongLength verifies that a length that does not fit its shape panics.
func TestEngineWrongLength(t *testing.T) {
	two := make([]float32, 2)
	e := New(Portable, 1)
	for name, f := range map[string]func(){
		"Gemm":   func() { e.Gemm(two, two, two, nil, 1, 2, 2, None) },
		"bias":   func() { e.Gemm(two, two, two, two[:1], 2, 1, 1, None) },
		"GemmTA": func() { e.GemmTA(two, two, two, 1, 2, 2, false) },
		"GemmTB": func() { e.GemmTB(two, two, two, 1, 2, 2, false) },
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

// sameBits verifies that the slices have equal bits, apart from NaNs.
func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%s: element %d is %g, want %g", what, i, got[i], want[i])
		}
	}
}
