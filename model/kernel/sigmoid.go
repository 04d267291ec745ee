package kernel

import "math"

// Sigmoid writes 1/(1+e⁻ˣ) to y, within 3 ulp; NaN stays NaN. y may be x.
func (e *Engine) Sigmoid(y, x []float32) { e.elements(opSigmoid, y, x, x, 0, false) }

// SigmoidGrad writes dy·y·(1−y) to dx, or adds it. dx may be dy.
func (e *Engine) SigmoidGrad(dx, dy, y []float32, add bool) {
	e.elements(opSigmoidGrad, dx, dy, y, 0, add)
}

// sigmoid32 returns 1/(1+e) or, for negative x, e/(1+e), with e = exp(−|x|). This form
// keeps all digits at both ends.
func sigmoid32(x float32) float32 {
	e := exp32(-float32(math.Abs(float64(x))))
	if x < 0 {
		return e / (e + 1)
	}
	return 1 / (e + 1)
}

func sigmoidRef(dst, a, _ []float32, _ float32) {
	for i, v := range a {
		dst[i] = sigmoid32(v)
	}
}

func sigmoidGradRef(dst, a, b []float32, _ float32) {
	for i, dy := range a {
		y := b[i]
		dst[i] = float32(dy*y) * (1 - y)
	}
}
