package optimizer

import "ringtrain/model"

// adadelta is TensorFlow's AdadeltaOptimizer (Zeiler, "ADADELTA: an adaptive
// learning rate method", 2012), with slots a ("Adadelta", from 0) and d
// ("Adadelta_1", from 0):
//
//	a ← a·ρ + g²·(1−ρ)
//	u = √(d+ε)·(1/√(a+ε))·g      new a, old d
//	w ← w − u·η
//	d ← d·ρ + u²·(1−ρ)
//
// The paper has η = 1; TensorFlow's default of 0.001 makes it slow.
type adadelta struct {
	state
	rho, epsilon float32
}

func newAdadelta(c Config, vars []*model.Variable) *adadelta {
	return &adadelta{newState(vars, "Adadelta", 0, 0), c.rho(), c.epsilon()}
}

func (o *adadelta) Apply(lr float32, rows [][]int64) { o.apply(o, lr, rows) }

func (o *adadelta) dense(p part, lr float32) {
	a, d := p.s[0], p.s[1]
	rho, rest, epsilon := o.rho, 1-o.rho, o.epsilon
	for i, g := range p.g {
		a[i] = float32(a[i]*rho) + float32(float32(g*g)*rest)
		u := sqrt(d[i]+epsilon) * (1 / sqrt(a[i]+epsilon)) * g
		p.w[i] -= float32(u * lr)
		d[i] = float32(d[i]*rho) + float32(float32(u*u)*rest)
	}
}

func (o *adadelta) rows(p part, lr float32) { o.dense(p, lr) }
