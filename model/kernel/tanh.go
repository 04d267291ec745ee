package kernel

import "math"

// tanhSplit is the boundary between the series of tanh and the form with exp.
const tanhSplit = 0.625

// tanhSeries is T of tanh(x) = x + x³·T(x²), lowest power first.
var tanhSeries = [...]float32{-0.333333313, 0.133332059, -0.0539467633, 0.0217007007, -0.00817739498, 0.00214295881}

// Tanh writes tanh of each element of x to y, within 2 ulp; NaN stays NaN. y may be x.
func (e *Engine) Tanh(y, x []float32) { e.elements(opTanh, y, x, x, 0, false) }

// TanhGrad writes dy·(1−y²) to dx, or adds it. dx may be dy.
func (e *Engine) TanhGrad(dx, dy, y []float32, add bool) {
	e.elements(opTanhGrad, dx, dy, y, 0, add)
}

// tanh32 returns x + x³·T(x²) for |x| below tanhSplit, else 1 − 2/(e²ˣ+1) with the sign
// of x.
func tanh32(x float32) float32 {
	a := float32(math.Abs(float64(x)))
	if a < tanhSplit {
		u := float32(x * x)
		c := &tanhSeries
		p := float32(c[5]*u) + c[4]
		p = float32(p*u) + c[3]
		p = float32(p*u) + c[2]
		p = float32(p*u) + c[1]
		p = float32(p*u) + c[0]
		return float32(float32(p*u)*x) + x
	}
	return withSign(1-2/(exp32(a+a)+1), x)
}

// withSign returns y ≥ 0 with the sign of x.
func withSign(y, x float32) float32 {
	return math.Float32frombits(math.Float32bits(y) | math.Float32bits(x)&(1<<31))
}

func tanhRef(dst, a, _ []float32, _ float32) {
	for i, v := range a {
		dst[i] = tanh32(v)
	}
}

func tanhGradRef(dst, a, b []float32, _ float32) {
	for i, dy := range a {
		y := b[i]
		dst[i] = dy * (1 - float32(y*y))
	}
}
