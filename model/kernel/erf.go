package kernel

import "math"

// Ranges of erf: its series below erfSplit, and 1 − erfc above. From erfTop on erfc is
// below half a unit in the last place of 1.
const (
	erfSplit = 0.921875
	erfTop   = 4
)

var (
	// erfSeries is E of erf(x) = x + x·E(x²), lowest power first.
	erfSeries = [...]float32{0.128379166, -0.376126349, 0.112836957, -0.0268593989, 0.00520103239, -0.000814270345, 8.3700972e-05}

	// erfcSeries is ln erfc(x) for x in [erfSplit, erfTop], lowest power first.
	erfcSeries = [...]float32{
		0.000176362111, -1.12952316, -0.633329928, -0.108299106, 0.025131952, -0.00417590234, 0.000435478083, -2.11842635e-05,
	}
)

// erf32 returns the error function, within 2 ulp; NaN stays NaN.
func erf32(x float32) float32 {
	a := float32(math.Abs(float64(x)))
	if a < erfSplit {
		u := float32(x * x)
		c := &erfSeries
		p := float32(c[6]*u) + c[5]
		p = float32(p*u) + c[4]
		p = float32(p*u) + c[3]
		p = float32(p*u) + c[2]
		p = float32(p*u) + c[1]
		p = float32(p*u) + c[0]
		return float32(p*x) + x
	}
	if erfTop < a {
		a = erfTop
	}
	c := &erfcSeries
	p := float32(c[7]*a) + c[6]
	p = float32(p*a) + c[5]
	p = float32(p*a) + c[4]
	p = float32(p*a) + c[3]
	p = float32(p*a) + c[2]
	p = float32(p*a) + c[1]
	p = float32(p*a) + c[0]
	return withSign(1-exp32(p), x)
}
