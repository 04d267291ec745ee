package vec

import (
	"math"
	"math/rand/v2"
	"testing"
)

// pattern returns n floats of all magnitudes and both signs. Equal seeds give equal floats.
func pattern(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.Ldexp(r.Float64()*2-1, r.IntN(60)-30))
	}
	return x
}

// specials returns the values that conversions and scans must treat specially.
func specials() []float32 {
	inf := float32(math.Inf(1))
	return []float32{
		0, float32(math.Copysign(0, -1)), 1, -1, inf, -inf, float32(math.NaN()),
		math.Float32frombits(0x7f800001), math.Float32frombits(0xffc12345), // a signalling NaN, a NaN with a payload
		math.SmallestNonzeroFloat32, math.Float32frombits(0x007fffff), // subnormals
		math.MaxFloat32, -math.MaxFloat32, 0x1p-126, 65504, 65519.996, 65520, 1e-39,
	}
}

// everything returns n floats, many of which are special values or random
// bits.
func everything(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 2))
	s := specials()
	x := pattern(n, seed)
	for i := range x {
		switch r.IntN(3) {
		case 0:
			x[i] = s[r.IntN(len(s))]
		case 1:
			x[i] = math.Float32frombits(r.Uint32())
		}
	}
	return x
}

// sameBits fails the test unless got has the bits of want. All NaNs are the same.
func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.IsNaN(float64(got[i])) && math.IsNaN(float64(want[i])) {
			continue
		}
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s: element %d is %g (%#08x), want %g (%#08x)", what, i,
				got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}
