package train

import (
	"math"

	"ringtrain/model"
	"ringtrain/model/internal/kernel"
	"ringtrain/model/optimizer"
)

// clip bounds the summed gradient before the update: first each element, then the norm
// of all of them.
//
//	g ← max(−value, min(value, g))
//	g ← g · norm/‖g‖   if ‖g‖ > norm,   ‖g‖ = √ Σ g² over all variables
//
// The norm is that of TensorFlow's clip_by_global_norm. It runs in float64, in the order
// of variables and elements, so that it has the same bits on every rank; variables by rows
// come first, and of them the rows of the global batch, which alone are not zero. A bound of 0
// is none.
type clip struct{ norm, value float64 }

func (c clip) none() bool { return c.norm == 0 && c.value == 0 }

// apply bounds the gradients of vars; the optimizer bounds those of rows.
func (c clip) apply(e *kernel.Engine, vars []*model.Variable, rows *optimizer.RowGrad) {
	if c.value > 0 {
		if rows != nil {
			rows.Adjust.Bound = float32(c.value)
		}
		for _, v := range vars {
			e.Clamp(v.Grad, float32(c.value))
		}
	}
	if c.norm == 0 {
		return
	}
	norm := math.Sqrt(squares(e, vars, rows))
	if norm <= c.norm {
		return
	}
	factor := float32(c.norm / norm)
	if rows != nil {
		rows.Adjust.Factor = factor
	}
	for _, v := range vars {
		e.Scale(v.Grad, factor)
	}
}

// squares is the sum of the squares of all gradients, those of rows first.
func squares(e *kernel.Engine, vars []*model.Variable, rows *optimizer.RowGrad) float64 {
	sum := 0.0
	if rows != nil {
		sum = rows.Squares(e, vars)
	}
	for _, v := range vars {
		sum += kernel.SumSquares(v.Grad)
	}
	return sum
}
