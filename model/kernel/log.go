package kernel

import "math"

// Constants of log: the reduction x = 2ᵏ·(1+f), 1+f in [√½, √2).
const (
	rootHalfBits = 0x3f3504f3 // bits of √½
	leastNormal  = 0x1p-126
)

// logSeries is Q of log(1+f) = f − f²/2 + f³·Q(f), lowest power first.
var logSeries = [...]float32{
	0.333333135, -0.250000089, 0.200021192, -0.166679963, 0.142195508, -0.124055915, 0.118881747, -0.116756409, 0.0674660131,
}

// log32 returns ln x, within 1 ulp. It returns −Inf for 0, NaN for a negative number and
// NaN, and +Inf for +Inf. All sets round each operation in the same way.
func log32(x float32) float32 {
	m, shift := x, float32(0)
	if x < leastNormal {
		m, shift = x*0x1p23, -23
	}
	bits := int32(math.Float32bits(m)) - rootHalfBits
	k := float32(bits>>23) + shift
	f := math.Float32frombits(uint32(bits&0x7fffff+rootHalfBits)) - 1
	c := &logSeries
	q := float32(c[8]*f) + c[7]
	q = float32(q*f) + c[6]
	q = float32(q*f) + c[5]
	q = float32(q*f) + c[4]
	q = float32(q*f) + c[3]
	q = float32(q*f) + c[2]
	q = float32(q*f) + c[1]
	q = float32(q*f) + c[0]
	z := float32(f * f)
	y := float32(float32(q*f)*z) + float32(k*ln2Low)
	y -= float32(z * 0.5)
	y = f + y + float32(k*ln2High)
	switch {
	case x == 0:
		return float32(math.Inf(-1))
	case !(x >= 0):
		return float32(math.NaN())
	case x == float32(math.Inf(1)):
		return x
	}
	return y
}

// logOnePlus returns ln(1+x) for x ≥ 0, with a relative error of at most 2⁻²². The
// quotient corrects the rounding error of the sum.
func logOnePlus(x float64) float64 {
	u := onePlus(x)
	return logOf(x, u, log32(u))
}

func onePlus(x float64) float32 { return float32(1 + x) }

// logOf returns logOnePlus(x) from u = onePlus(x) and log = ln u.
func logOf(x float64, u, log float32) float64 {
	if u == 1 || u > math.MaxFloat32 {
		return x
	}
	return float64(log) * (x / (float64(u) - 1))
}

func logRef(dst, a, _ []float32, _ float32) {
	for i, v := range a {
		dst[i] = log32(v)
	}
}
