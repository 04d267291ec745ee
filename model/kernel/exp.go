package kernel

import "math"

// Constants of exp: the reduction x = n·ln 2 + r, |r| ≤ ln 2 / 2.
const (
	expTop    = 89         // exp is +Inf from here on
	expBottom = -104       // exp is 0 up to here
	log2E     = 1.44269504 // 1/ln 2
	ln2High   = 0.693359375
	ln2Low    = -2.12194440e-4 // ln2High has 9 bits: n·ln2High is exact
	rounder   = 12582912       // 1.5·2²³: adding it rounds to a whole number
	roundBits = 0x4b400000     // its bits: those of a sum less these are n
)

// expSeries is P of exp(r) = 1 + r + r²·P(r), lowest power first.
var expSeries = [...]float32{0.5, 0.166666657, 0.0416662954, 0.00833349768, 0.00139447046, 0.000197903035}

// exp32 returns eˣ, within 1 ulp. It overflows to +Inf and underflows through the
// denormals to 0; NaN stays NaN. All sets round each operation in the same way.
func exp32(x float32) float32 {
	if expTop < x {
		x = expTop
	}
	if expBottom > x {
		x = expBottom
	}
	t := float32(x*log2E) + rounder
	n := t - rounder
	r := x - float32(n*ln2High) - float32(n*ln2Low)
	c := &expSeries
	p := float32(c[5]*r) + c[4]
	p = float32(p*r) + c[3]
	p = float32(p*r) + c[2]
	p = float32(p*r) + c[1]
	p = float32(p*r) + c[0]
	y := float32(float32(p*r)*r) + r + 1
	// Two factors, because 2ⁿ alone leaves the range of normal numbers.
	k := int32(math.Float32bits(t)) - roundBits
	half := k >> 1
	return float32(y*power2(half)) * power2(k-half)
}

// power2 returns 2ⁿ for n in [−126, 127].
func power2(n int32) float32 { return math.Float32frombits(uint32(n+127) << 23) }

func expRef(dst, a, _ []float32, _ float32) {
	for i, v := range a {
		dst[i] = exp32(v)
	}
}
