package optimizer

import (
	"ringtrain/model"
	"ringtrain/model/internal/kernel"
)

// sgd is TensorFlow's GradientDescentOptimizer:
//
//	w ← w − g·η
type sgd struct{ state }

func newSGD(vars []*model.Variable, engine func() *kernel.Engine) *sgd {
	return &sgd{newState(engine, vars, "")}
}

func (o *sgd) Apply(lr float32, g *RowGrad) { o.apply(o, lr, g) }

func (o *sgd) dense(p part, lr float32) {
	p.C[0] = lr
	o.engine().Update(kernel.SGD, &p)
}

// rows selects the rule. TensorFlow subtracts the gradients of a duplicate row one after
// another; ringtrain sums them first, as for all optimizers.
func (o *sgd) rows(u *kernel.RowUpdate, lr float32) kernel.Rule {
	u.C[0] = lr
	return kernel.SGD
}
