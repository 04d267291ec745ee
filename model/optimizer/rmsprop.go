package optimizer

import (
	"ringtrain/model"
	"ringtrain/model/internal/kernel"
)

// rmsprop is TensorFlow's RMSPropOptimizer (Tieleman and Hinton, 2012), with
// slots r ("RMSProp", from 1, not 0) and q ("RMSProp_1", from 0):
//
//	r ← r + (g²−r)·(1−ρ)
//	q ← q·μ + g·η/√(r+ε)
//	w ← w − q
//
// centered has the additional slot h (r, h, q are "RMSProp", "_1", "_2"; h from 0):
// h ← h + (g−h)·(1−ρ), and the root is of (r−h²)+ε. If a gradient's variance is all
// rounding, this may be negative and the result NaN, as in TensorFlow.
type rmsprop struct {
	state
	rho, mu, epsilon float32
	centered         bool
}

func newRMSProp(c Config, vars []*model.Variable, engine func() *kernel.Engine) *rmsprop {
	initial := []float32{1, 0}
	if c.Centered {
		initial = []float32{1, 0, 0}
	}
	return &rmsprop{newState(engine, vars, "RMSProp", initial...), c.rho(), c.momentum(), c.epsilon(), c.Centered}
}

func (o *rmsprop) Apply(lr float32, g *RowGrad) { o.apply(o, lr, g) }

func (o *rmsprop) dense(p part, lr float32) {
	p.C = [6]float32{lr, 1 - o.rho, o.mu, o.epsilon}
	if o.centered {
		p.S[1], p.S[2] = p.S[2], p.S[1] // the kernel has h last
		o.engine().Update(kernel.RMSPropCentered, &p)
	} else {
		o.engine().Update(kernel.RMSProp, &p)
	}
}

func (o *rmsprop) rows(u *kernel.RowUpdate, lr float32) kernel.Rule {
	u.C = [6]float32{lr, 1 - o.rho, o.mu, o.epsilon, o.rho}
	if !o.centered {
		return kernel.RMSPropRows
	}
	u.S[1], u.S[2] = u.S[2], u.S[1]
	return kernel.RMSPropRowsMean
}
