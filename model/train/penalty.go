package train

import (
	"math"

	"ringtrain/model"
	"ringtrain/model/internal/kernel"
	"ringtrain/model/optimizer"
	"ringtrain/model/train/report"
)

// penalty adds to what training makes small
//
//	l2/2 · Σ w² + l1 · Σ |w|
//
// over the weights w of the model: not its biases, gammas and betas. Its gradient
//
//	g ← g + l2·w + l1·sign(w)
//
// in float32 joins the sum of the ranks' gradients, once a step, so that it does not
// depend on the world size; the bounds of clip come after it. Of a variable by rows an
// update has the rows of the global batch, and so has the penalty. In the optimizer ftrl
// l1 and l2 are others: there they are part of the update.
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

// of returns the penalty of the variables as they are, all rows of them.
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

// objective is what an update makes smaller, per example: a mean loss and the penalty.
// Where the gradient is that of the sum of losses, the penalty is shared among the
// examples of a step. It is nil where there is no penalty.
func (r *run) objective(loss report.Number) *report.Number {
	p := r.penalty()
	if p.none() {
		return nil
	}
	weight := p.of(r.model.Variables())
	if r.job.Loss.Sum() {
		weight /= float64(r.globalBatch())
	}
	value := loss + report.Number(weight)
	return &value
}

func (t *Trainer) penalty() penalty { return penalty{t.job.Model.L1, t.job.Model.L2} }
