package kernel

// Add adds src to dst.
func (e *Engine) Add(dst, src []float32) { e.elements(opAdd, dst, dst, src, 0, false) }

// Sum writes a + b to dst, which may be either of them.
func (e *Engine) Sum(dst, a, b []float32) { e.elements(opAdd, dst, a, b, 0, false) }

// Multiply writes a·b to dst, or adds it, element by element. Without add, dst may be a
// or b.
func (e *Engine) Multiply(dst, a, b []float32, add bool) {
	e.elements(opMultiply, dst, a, b, 0, add)
}

// Axpy adds alpha·src to dst. It rounds the product before the addition.
func (e *Engine) Axpy(dst, src []float32, alpha float32) {
	e.elements(opAxpy, dst, dst, src, alpha, false)
}

// Scale multiplies dst by alpha.
func (e *Engine) Scale(dst []float32, alpha float32) {
	e.elements(opScale, dst, dst, dst, alpha, false)
}

// Clamp limits each element to [−bound, bound]; NaN stays NaN.
func (e *Engine) Clamp(dst []float32, bound float32) {
	e.elements(opClamp, dst, dst, dst, bound, false)
}

// Average moves each element of mean towards the one of x by rate times their
// distance: mean − (mean−x)·rate.
func (e *Engine) Average(mean, x []float32, rate float32) {
	e.elements(opAverage, mean, mean, x, rate, false)
}

// Log writes ln x to y, within 1 ulp. y may be x.
func (e *Engine) Log(y, x []float32) { e.elements(opLog, y, x, x, 0, false) }

func addRef(dst, a, b []float32, _ float32) {
	for i, v := range a {
		dst[i] = v + b[i]
	}
}

func multiplyRef(dst, a, b []float32, _ float32) {
	for i, v := range a {
		dst[i] = v * b[i]
	}
}

func axpyRef(dst, a, b []float32, alpha float32) {
	for i, v := range a {
		dst[i] = v + float32(b[i]*alpha)
	}
}

func scaleRef(dst, a, _ []float32, alpha float32) {
	for i, v := range a {
		dst[i] = v * alpha
	}
}

func divideRef(dst, a, _ []float32, divisor float32) {
	for i, v := range a {
		dst[i] = v / divisor
	}
}

func addQuotientRef(dst, a, b []float32, divisor float32) {
	for i, v := range a {
		dst[i] = v + b[i]/divisor
	}
}

func shiftRef(dst, a, _ []float32, x float32) {
	for i, v := range a {
		dst[i] = v - x
	}
}

func clampRef(dst, a, _ []float32, bound float32) {
	for i, v := range a {
		if bound < v {
			v = bound
		}
		if -bound > v {
			v = -bound
		}
		dst[i] = v
	}
}

func averageRef(dst, a, b []float32, rate float32) {
	for i, v := range a {
		dst[i] = v - float32((v-b[i])*rate)
	}
}
