package optimizer

import "ringtrain/model"

// sgd is TensorFlow's GradientDescentOptimizer:
//
//	w ← w − g·η
type sgd struct{ state }

func newSGD(vars []*model.Variable) *sgd { return &sgd{newState(vars, "")} }

func (o *sgd) Apply(lr float32, rows [][]int64) { o.apply(o, lr, rows) }

func (o *sgd) dense(p part, lr float32) {
	w := p.w[:len(p.g)]
	for i, g := range p.g {
		w[i] -= float32(g * lr)
	}
}

// rows: TensorFlow subtracts the gradients of a row that occurs twice one after
// another; here they are summed before, as for all others.
func (o *sgd) rows(p part, lr float32) { o.dense(p, lr) }
