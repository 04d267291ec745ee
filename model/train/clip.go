package train

import (
	"math"

	"ringtrain/model"
	"ringtrain/model/internal/kernel"
)

// clip bounds the summed gradient before the update: first each element, then the norm
// of all of them.
//
//	g ← max(−value, min(value, g))
//	g ← g · norm/‖g‖   if ‖g‖ > norm,   ‖g‖ = √ Σ g² over all variables
//
// The norm is that of TensorFlow's clip_by_global_norm. It runs in float64, in the order
// of variables and elements, so that it has the same bits on every rank; of a variable
// by rows it takes the rows of the global batch, which alone are not zero. A bound of 0
// is none.
type clip struct{ norm, value float64 }

func (c clip) none() bool { return c.norm == 0 && c.value == 0 }

// apply bounds the gradients of vars. Rows are as for an optimizer's Apply.
func (c clip) apply(e *kernel.Engine, vars []*model.Variable, rows [][]int64) {
	if c.value > 0 {
		bound := float32(c.value)
		for i, v := range vars {
			if !v.ByRows {
				e.Clamp(v.Grad, bound)
				continue
			}
			for k := range parts(v, rows[i]) {
				clamp(part(v, v.Grad, rows[i], k), bound)
			}
		}
	}
	if c.norm == 0 {
		return
	}
	norm := math.Sqrt(squares(vars, rows))
	if norm <= c.norm {
		return
	}
	factor := float32(c.norm / norm)
	for i, v := range vars {
		if !v.ByRows {
			e.Scale(v.Grad, factor)
			continue
		}
		for k := range parts(v, rows[i]) {
			scale(part(v, v.Grad, rows[i], k), factor)
		}
	}
}

// squares is the sum of the squares of all gradients.
func squares(vars []*model.Variable, rows [][]int64) float64 {
	var sum float64
	for i, v := range vars {
		for k := range parts(v, rows[i]) {
			sum += sumSquares(part(v, v.Grad, rows[i], k))
		}
	}
	return sum
}

// parts is the number of stretches of v's gradient that may not be zero: its rows in
// the global batch, or all of it as one.
func parts(v *model.Variable, rows []int64) int {
	if v.ByRows {
		return len(rows)
	}
	return 1
}

// part is one of these stretches of v's gradient or value.
func part(v *model.Variable, of []float32, rows []int64, k int) []float32 {
	if !v.ByRows {
		return of
	}
	n := v.RowLen()
	first := int(rows[k]) * n
	return of[first : first+n]
}

// sumSquares returns Σ x². A square of a float32 is exact in float64. Four sums, of
// every fourth element each, let the processor work on four at a time.
func sumSquares(x []float32) float64 {
	var a, b, c, d float64
	for len(x) >= 4 {
		p, q, r, s := float64(x[0]), float64(x[1]), float64(x[2]), float64(x[3])
		a, b, c, d = a+p*p, b+q*q, c+r*r, d+s*s
		x = x[4:]
	}
	for _, v := range x {
		a += float64(v) * float64(v)
	}
	return (a + b) + (c + d)
}

// clamp bounds each element of x.
func clamp(x []float32, bound float32) {
	for i, v := range x {
		x[i] = max(-bound, min(bound, v))
	}
}

// scale multiplies each element of x.
func scale(x []float32, factor float32) {
	for i := range x {
		x[i] *= factor
	}
}
