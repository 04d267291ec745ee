package optimizer

import (
	"ringtrain/model"
	"ringtrain/model/internal/kernel"
)

// adadelta is TensorFlow's AdadeltaOptimizer (Zeiler, "ADADELTA: an adaptive
// learning rate method", 2012), with slots a ("Adadelta", from 0) and d
// ("Adadelta_1", from 0):
//
//	a ← a·ρ + g²·(1−ρ)
//	u = √(d+ε)·(1/√(a+ε))·g      new a, old d
//	w ← w − u·η
//	d ← d·ρ + u²·(1−ρ)
//
// The paper has η = 1. TensorFlow's default of 0.001 converges slowly.
type adadelta struct {
	state
	rho, epsilon float32
}

func newAdadelta(c Config, vars []*model.Variable, engine func() *kernel.Engine) *adadelta {
	return &adadelta{newState(engine, vars, "Adadelta", 0, 0), c.rho(), c.epsilon()}
}

func (o *adadelta) Apply(lr float32, g *RowGrad) { o.apply(o, lr, g) }

func (o *adadelta) dense(p part, lr float32) {
	p.C = o.constants(lr)
	o.engine().Update(kernel.Adadelta, &p)
}

func (o *adadelta) rows(u *kernel.RowUpdate, lr float32) kernel.Rule {
	u.C = o.constants(lr)
	return kernel.Adadelta
}

func (o *adadelta) constants(lr float32) [6]float32 {
	return [6]float32{lr, o.rho, 1 - o.rho, o.epsilon}
}
