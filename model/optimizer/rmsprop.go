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
// centered has h between them (r, h, q are "RMSProp", "_1", "_2"; h from 0):
// h ← h + (g−h)·(1−ρ), and the root is of (r−h²)+ε. Where all of a gradient's
// variance is rounding that may be negative, and the result NaN, as in
// TensorFlow.
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

func (o *rmsprop) Apply(lr float32, rows [][]int64) { o.apply(o, lr, rows) }

func (o *rmsprop) dense(p part, lr float32) {
	p.C = [6]float32{lr, 1 - o.rho, o.mu, o.epsilon}
	if o.centered {
		p.S[1], p.S[2] = p.S[2], p.S[1] // the kernel has h last
		o.engine().Update(kernel.RMSPropCentered, &p)
	} else {
		o.engine().Update(kernel.RMSProp, &p)
	}
}

func (o *rmsprop) rows(p part, lr float32) {
	rest := 1 - o.rho
	r, q, h := o.split(p)
	for i, g := range p.G {
		r[i] = float32(r[i]*o.rho) + float32(float32(g*g)*rest)
		x := r[i]
		if o.centered {
			h[i] = float32(h[i]*o.rho) + float32(g*rest)
			x -= float32(h[i] * h[i])
		}
		q[i] = float32(q[i]*o.mu) + float32(1/sqrt(x+o.epsilon)*lr*g)
		p.W[i] -= q[i]
	}
}

// split names the slots; h is nil if o is not centered.
func (o *rmsprop) split(p part) (r, q, h []float32) {
	if o.centered {
		return p.S[0], p.S[2], p.S[1]
	}
	return p.S[0], p.S[1], nil
}
