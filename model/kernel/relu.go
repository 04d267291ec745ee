package kernel

// ReLU writes max(x, 0) to y; NaN stays NaN. y may be x.
func (e *Engine) ReLU(y, x []float32) { e.elements(opReLU, y, x, x, 0, false) }

// ReLUGrad writes dy, or 0 where y is 0, to dx, or adds it: the derivative at 0 is
// 0, as in TensorFlow. dx may be dy.
func (e *Engine) ReLUGrad(dx, dy, y []float32, add bool) {
	e.elements(opReLUGrad, dx, dy, y, 0, add)
}

// LeakyReLU writes x, or slope·x for negative x, to y; NaN stays NaN. slope is 0 or
// more. y may be x.
func (e *Engine) LeakyReLU(y, x []float32, slope float32) {
	e.elements(opLeakyReLU, y, x, x, slope, false)
}

// LeakyReLUGrad writes dy, or slope·dy where y is not above 0, to dx, or adds it.
// dx may be dy.
func (e *Engine) LeakyReLUGrad(dx, dy, y []float32, slope float32, add bool) {
	e.elements(opLeakyReLUGrad, dx, dy, y, slope, add)
}

func reluRef(dst, a, _ []float32, _ float32) {
	for i, v := range a {
		if v <= 0 { // not !(v > 0), so that NaN stays
			v = 0
		}
		dst[i] = v
	}
}

func reluGradRef(dst, a, b []float32, _ float32) {
	for i, dy := range a {
		if b[i] <= 0 {
			dy = 0
		}
		dst[i] = dy
	}
}

func leakyReLURef(dst, a, _ []float32, slope float32) {
	for i, v := range a {
		if v <= 0 {
			v *= slope
		}
		dst[i] = v
	}
}

func leakyReLUGradRef(dst, a, b []float32, slope float32) {
	for i, dy := range a {
		if b[i] <= 0 {
			dy *= slope
		}
		dst[i] = dy
	}
}
