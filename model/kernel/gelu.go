package kernel

const (
	rootHalf    = 0.70710678 // √½
	normalScale = 0.39894228 // 1/√(2π)
)

// GELU writes x·Φ(x) to y, Φ(x) = (1+erf(x/√2))/2: the exact form, Keras's default. y
// may be x if the gradient does not need x.
func (e *Engine) GELU(y, x []float32) { e.elements(opGELU, y, x, x, 0, false) }

// GELUGrad writes dy·(Φ(x) + x·φ(x)) to dx, or adds it. φ is the normal density.
// dx may be dy.
func (e *Engine) GELUGrad(dx, dy, x []float32, add bool) {
	e.elements(opGELUGrad, dx, dy, x, 0, add)
}

func geluRef(dst, a, _ []float32, _ float32) {
	for i, x := range a {
		dst[i] = float32(x*0.5) * (1 + erf32(float32(x*rootHalf)))
	}
}

func geluGradRef(dst, a, b []float32, _ float32) {
	for i, dy := range a {
		x := b[i]
		below := float32(0.5 * (1 + erf32(float32(x*rootHalf))))
		density := float32(exp32(float32(float32(x*x)*-0.5)) * normalScale)
		dst[i] = dy * (below + float32(x*density))
	}
}
