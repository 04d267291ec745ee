package kernel

import (
	"math"
	"testing"
)

// ulps returns the distance of got from want in units in the last place of a float32 at
// want. Below the normal numbers the unit is that of the denormals.
func ulps(got float32, want float64) float64 {
	if math.IsNaN(want) || math.IsInf(want, 0) || math.Abs(want) > math.MaxFloat32 {
		if rounded := float32(want); got == rounded || got != got && rounded != rounded {
			return 0
		}
		// A value between MaxFloat32 and overflow may round to either.
		if math.Abs(want) < math.MaxFloat32*(1+0x1p-22) && math.Abs(float64(got)) == math.MaxFloat32 {
			return 1
		}
		return math.Inf(1)
	}
	_, exponent := math.Frexp(want)
	unit := math.Ldexp(1, max(exponent, -125)-24)
	if math.IsInf(float64(got), 0) && math.Abs(want) > math.MaxFloat32*(1-0x1p-23) {
		return 1
	}
	d := math.Abs(float64(got)-want) / unit
	if math.IsNaN(d) {
		return math.Inf(1)
	}
	return d
}

// sweep calls f with a million float32: all signs and exponents, denormals, zeros,
// infinities and NaN, and 1,000 numbers around each given number.
func sweep(f func(x float32), around ...float32) {
	for bits := uint64(0); bits < 1<<32; bits += 4093 {
		f(math.Float32frombits(uint32(bits)))
	}
	inf := float32(math.Inf(1))
	for _, x := range []float32{0, float32(math.Copysign(0, -1)), inf, -inf, float32(math.NaN()), 1, -1, 1e-45, -1e-45, 0x1p-126, math.MaxFloat32} {
		f(x)
	}
	for _, x := range around {
		bits := math.Float32bits(x)
		for d := range uint32(1000) {
			f(math.Float32frombits(bits + d - 500))
			f(-math.Float32frombits(bits + d - 500))
		}
	}
}

// TestLogOnePlus verifies the documented bound from 2⁻¹⁰⁰ to 2⁵⁶.
func TestLogOnePlus(t *testing.T) {
	for i := range 40000 {
		x := math.Exp2(float64(i)/256 - 100)
		want := math.Log1p(x)
		if got := logOnePlus(x); !(math.Abs(got-want) <= 0x1p-22*want) {
			t.Fatalf("ln(1+%g) is %g, want %g", x, got, want)
		}
	}
	if nan := math.NaN(); logOnePlus(nan) == logOnePlus(nan) || logOnePlus(0) != 0 {
		t.Error("want NaN of NaN and 0 of 0")
	}
}

// TestFunctions verifies the documented bounds of exp, log, tanh, erf and sigmoid
// against float64 arithmetic over the whole of float32.
func TestFunctions(t *testing.T) {
	for _, c := range []struct {
		name   string
		f      func(float32) float32
		exact  func(float64) float64
		bound  float64
		around []float32
	}{
		{"exp", exp32, math.Exp, 1, []float32{88.72284, 89, 87.33655, 103.97208, 104, 0.34657359, 1}},
		{"log", log32, math.Log, 1, []float32{1, 0.70710678, 1.41421356, 2, 0x1p-126, 0x1p-149}},
		{"tanh", tanh32, math.Tanh, 2, []float32{tanhSplit, 9, 1e-4, 0.05}},
		{"erf", erf32, math.Erf, 2, []float32{erfSplit, 3.9, 4, 1e-4, 0.05}},
		{"sigmoid", sigmoid32, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 3, []float32{88.7, 17, 1e-4, 1}},
	} {
		t.Run("function="+c.name, func(t *testing.T) {
			worst, at := 0.0, float32(0)
			look := func(x float32) {
				if d := ulps(c.f(x), c.exact(float64(x))); d > worst {
					worst, at = d, x
				}
			}
			sweep(look, c.around...)
			for x := float32(-105); x < 105; x += 0.00037 {
				look(x)
			}
			t.Logf("at most %.3f ulp, at %g", worst, at)
			if worst > c.bound {
				t.Errorf("%g ulp at %g: got %g, want %g within %g ulp", worst, at, c.f(at), c.exact(float64(at)), c.bound)
			}
		})
	}
}
