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
// The rate multiplies a, not g: a new rate acts at once. Keras and PyTorch (in
// its Nesterov form) differ.
type momentum struct {
	state
	mu       float32
	nesterov bool
}

func newMomentum(c Config, vars []*model.Variable, engine func() *kernel.Engine) *momentum {
	return &momentum{newState(engine, vars, "Momentum", 0), c.momentum(), c.Nesterov}
}

func (o *momentum) Apply(lr float32, rows [][]int64) { o.apply(o, lr, rows) }

func (o *momentum) dense(p part, lr float32) {
	p.C = [6]float32{lr, o.mu}
	if o.nesterov {
		o.engine().Update(kernel.Nesterov, &p)
	} else {
		o.engine().Update(kernel.Momentum, &p)
	}
}

func (o *momentum) rows(p part, lr float32) {
	if !o.nesterov {
		o.dense(p, lr)
		return
	}
	w, a, muLR := p.W, p.S[0], o.mu*lr
	for i, g := range p.G {
		a[i] = float32(a[i]*o.mu) + g
		w[i] -= float32(g*lr) + float32(a[i]*muLR)
	}
}
