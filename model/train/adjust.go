package train

import (
	"math"

	"ringtrain/model"
	"ringtrain/model/kernel"
	"ringtrain/model/optimizer"
	"ringtrain/model/train/report"
)

// adjust returns a function that changes the summed gradients before each update, or nil if the job
// asks for no change. The penalty is part of the gradient, so it is added before the bounds apply.
func (t *Trainer) adjust() func(rows *optimizer.RowGrad) {
	vars, weigh, bound := t.model.Variables(), t.penalty(), clip{t.job.Train.ClipNorm, t.job.Train.ClipValue}
	if weigh.none() && bound.none() {
		return nil
	}
	return func(rows *optimizer.RowGrad) {
		if !weigh.none() {
			weigh.apply(t.model.Engine(), vars, rows)
		}
		bound.apply(t.model.Engine(), vars, rows)
	}
}

// clip bounds the summed gradient before the update: first each element, then the norm of all of
// them.
//
//	g ← max(−value, min(value, g))
//	g ← g · norm/‖g‖   if ‖g‖ > norm,   ‖g‖ = √ Σ g² over all variables
//
// The norm is that of TensorFlow's clip_by_global_norm. It is computed in float64, in the order of
// variables and elements, so it has the same bits on every rank. Variables by rows come first. Only
// the rows of the global batch count, because all others are zero. A bound of 0 means none.
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

// squares returns the sum of the squares of all gradients, variables by rows first.
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

// penalty adds to the objective
//
//	l2/2 · Σ w² + l1 · Σ |w|
//
// over the weights w of the model, without biases, gammas and betas. Its gradient
//
//	g ← g + l2·w + l1·sign(w)
//
// in float32 is added to the sum of the ranks' gradients once a step. So it does not depend on the
// world size. The bounds of clip apply after it. For a variable by rows the penalty covers the rows
// of the global batch, as the update does. The l1 and l2 of the optimizer ftrl are other parameters,
// which are part of its update.
type penalty struct{ l1, l2 float64 }

func (p penalty) none() bool { return p.l1 == 0 && p.l2 == 0 }

// apply adds the penalty's gradient to those of vars; the optimizer adds it to rows.
func (p penalty) apply(e *kernel.Engine, vars []*model.Variable, rows *optimizer.RowGrad) {
	l1, l2 := float32(p.l1), float32(p.l2)
	if rows != nil {
		rows.Adjust.L1, rows.Adjust.L2 = l1, l2
	}
	for _, v := range vars {
		switch {
		case !v.Decay || v.ByRows:
		case l1 == 0:
			e.Axpy(v.Grad, v.Value, l2)
		default:
			kernel.Penalize(v.Grad, v.Value, l1, l2)
		}
	}
}

// of returns the penalty of the current variables, over all rows.
func (p penalty) of(vars []*model.Variable) float64 {
	var squares, sizes float64
	for _, v := range vars {
		if !v.Decay {
			continue
		}
		if p.l2 != 0 {
			squares += kernel.SumSquares(v.Value)
		}
		if p.l1 != 0 {
			for _, x := range v.Value {
				sizes += math.Abs(float64(x))
			}
		}
	}
	return p.l2/2*squares + p.l1*sizes
}

// objective returns the quantity per example that an update reduces: loss plus penalty. It returns
// nil without a penalty. If the losses of a batch are summed, its examples share the penalty.
func (p penalty) objective(loss report.Number, vars []*model.Variable, sums bool, batch int) *report.Number {
	if p.none() {
		return nil
	}
	weight := p.of(vars)
	if sums {
		weight /= float64(batch)
	}
	return report.NewNumber(float64(loss) + weight)
}

// penalty returns the penalty of the job.
func (t *Trainer) penalty() penalty { return penalty{t.job.Model.L1, t.job.Model.L2} }
