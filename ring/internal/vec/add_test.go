package vec

import (
	"fmt"
	"math"
	"testing"
)

// TestAddAgainstLoop verifies Add against the loop that defines it, at every length up to three
// strides and every alignment within a cache line. Sums must not differ between machines with
// and without assembly, and memory beside the vector must not change.
func TestAddAgainstLoop(t *testing.T) {
	const guard = 16
	for n := range 3*stride + 1 {
		for off := range guard {
			dst, want, src := pattern(n+2*guard, 1), pattern(n+2*guard, 1), pattern(n, 2)
			Add(dst[off:off+n], src)
			for i, v := range src {
				want[off+i] += v
			}
			sameBits(t, fmt.Sprintf("n=%d offset=%d", n, off), dst, want)
		}
	}
}

// TestAddSpecials verifies the sums of infinities, NaNs, zeros and subnormals against the
// loop.
func TestAddSpecials(t *testing.T) {
	s := specials()
	for _, a := range s {
		dst, want := make([]float32, len(s)), make([]float32, len(s))
		for i := range s {
			dst[i], want[i] = a, a+s[i]
		}
		Add(dst, s)
		sameBits(t, fmt.Sprintf("%g +", a), dst, want)
	}
}

// TestScans verifies AbsMax and Finite against package math, with each special value at each
// position of a vector.
func TestScans(t *testing.T) {
	for n := range 18 {
		for pos := range n {
			for _, s := range specials() {
				x := make([]float32, n)
				for i := range x {
					x[i] = float32(i%3) - 1
				}
				x[pos] = s
				var most float64
				finite := true
				for _, v := range x {
					most = math.Max(most, math.Abs(float64(v)))
					finite = finite && !math.IsInf(float64(v), 0) && !math.IsNaN(float64(v))
				}
				sameBits(t, fmt.Sprintf("AbsMax n=%d pos=%d %g", n, pos, s), []float32{AbsMax(x)}, []float32{float32(most)})
				if got := Finite(x); got != finite {
					t.Errorf("Finite n=%d pos=%d %g is %v, want %v", n, pos, s, got, finite)
				}
			}
		}
	}
}

// TestScanNaNOverInf verifies that a NaN wins over an infinity, unlike in
// math.Max.
func TestScanNaNOverInf(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(-1))
	for _, x := range [][]float32{{nan, inf}, {inf, nan}, {inf, 0, 0, 0, nan}} {
		if m := AbsMax(x); m == m {
			t.Errorf("AbsMax(%v) is %g, want NaN", x, m)
		}
	}
}

// TestLengthsMustFit verifies that each kernel panics at slices of lengths that do not fit
// together.
func TestLengthsMustFit(t *testing.T) {
	x, b := make([]float32, 4), make([]byte, 15)
	for name, call := range map[string]func(){
		"Add":      func() { Add(x, x[:3]) },
		"Sum2 a":   func() { Sum2(x, x[:3], x) },
		"Sum2 b":   func() { Sum2(x, x, x[:3]) },
		"Subtract": func() { Subtract(x, x[:3]) },
		"PutF32":   func() { PutF32(b, x) },
		"GetF32":   func() { GetF32(x, b) },
		"AddF32":   func() { AddF32(x, b) },
		"PutBF16":  func() { PutBF16(b, x) },
		"GetBF16":  func() { GetBF16(x, b) },
		"AddBF16":  func() { AddBF16(x, b) },
		"PutFP16":  func() { PutFP16(b, x, 1) },
		"GetFP16":  func() { GetFP16(x, b, 1) },
		"AddFP16":  func() { AddFP16(x, b, 1) },
		"PutInt8":  func() { PutInt8(b, x, 1) },
		"GetInt8":  func() { GetInt8(x, b, 1) },
		"AddInt8":  func() { AddInt8(x, b, 1) },
	} {
		func() {
			defer func() {
				if recover() != "vec: lengths do not fit" {
					t.Errorf("%s did not panic", name)
				}
			}()
			call()
		}()
	}
}
