package optimizer

import "ringtrain/model"

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

func newMomentum(c Config, vars []*model.Variable) *momentum {
	return &momentum{newState(vars, "Momentum", 0), c.momentum(), c.Nesterov}
}

func (o *momentum) Apply(lr float32, rows [][]int64) { o.apply(o, lr, rows) }

func (o *momentum) dense(p part, lr float32) {
	a := p.s[0]
	for i, g := range p.g {
		a[i] = float32(a[i]*o.mu) + g
		if o.nesterov {
			p.w[i] -= float32(g*lr) + float32(float32(a[i]*o.mu)*lr)
		} else {
			p.w[i] -= float32(a[i] * lr)
		}
	}
}

func (o *momentum) rows(p part, lr float32) {
	if !o.nesterov {
		o.dense(p, lr)
		return
	}
	a, muLR := p.s[0], o.mu*lr
	for i, g := range p.g {
		a[i] = float32(a[i]*o.mu) + g
		p.w[i] -= float32(g*lr) + float32(a[i]*muLR)
	}
}
