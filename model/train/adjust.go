package train

import "ringtrain/model/optimizer"

// adjust returns what changes the summed gradients before each update, nil for nothing:
// the penalty is part of the gradient, and so comes before its bounds.
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
