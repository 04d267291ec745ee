package optimizer

import (
	"ringtrain/model"
	"ringtrain/model/internal/kernel"
)

// momentum is TensorFlow's MomentumOptimizer, with slot a ("Momentum", from 0):
//
//	a ← a·μ + g
//	w ← w − a·η                 plain
//	w ← w − (g·η + a·μ·η)       Nesterov
//
// The rate multiplies a, not g: a new rate takes effect at once. Keras and PyTorch (in
// its Nesterov form) differ.
type momentum struct {
	state
	mu       float32
	nesterov bool
}

func newMomentum(c Config, vars []*model.Variable, engine func() *kernel.Engine) *momentum {
	return &momentum{newState(engine, vars, "Momentum", 0), c.momentum(), c.Nesterov}
}

func (o *momentum) Apply(lr float32, g *RowGrad) { o.apply(o, lr, g) }

func (o *momentum) dense(p part, lr float32) {
	p.C = [6]float32{lr, o.mu}
	if o.nesterov {
		o.engine().Update(kernel.Nesterov, &p)
	} else {
		o.engine().Update(kernel.Momentum, &p)
	}
}

func (o *momentum) rows(u *kernel.RowUpdate, lr float32) kernel.Rule {
	u.C = [6]float32{lr, o.mu}
	if o.nesterov {
		return kernel.NesterovRows
	}
	return kernel.Momentum
}
