package optimizer

import (
	"ringtrain/model"
	"ringtrain/model/internal/kernel"
)

// adagrad is TensorFlow's AdagradOptimizer (Duchi et al., "Adaptive subgradient
// methods", 2011), with slot a ("Adagrad", from initial_accumulator):
//
//	a ← a + g²
//	w ← w − g·η·(1/√a)
//
// There is no ε: the initial accumulator keeps the root above 0.
type adagrad struct{ state }

func newAdagrad(c Config, vars []*model.Variable, engine func() *kernel.Engine) *adagrad {
	return &adagrad{newState(engine, vars, "Adagrad", c.initialAccumulator())}
}

func (o *adagrad) Apply(lr float32, g *RowGrad) { o.apply(o, lr, g) }

func (o *adagrad) dense(p part, lr float32) {
	p.C[0] = lr
	o.engine().Update(kernel.Adagrad, &p)
}

func (o *adagrad) rows(u *kernel.RowUpdate, lr float32) kernel.Rule {
	u.C[0] = lr
	return kernel.Adagrad
}
