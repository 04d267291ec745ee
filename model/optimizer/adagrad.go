package optimizer

import "ringtrain/model"

// adagrad is TensorFlow's AdagradOptimizer (Duchi et al., "Adaptive subgradient
// methods", 2011), with slot a ("Adagrad", from initial_accumulator):
//
//	a ← a + g²
//	w ← w − g·η·(1/√a)
//
// There is no ε: the initial accumulator keeps the root from 0.
type adagrad struct{ state }

func newAdagrad(c Config, vars []*model.Variable) *adagrad {
	return &adagrad{newState(vars, "Adagrad", c.initialAccumulator())}
}

func (o *adagrad) Apply(lr float32, rows [][]int64) { o.apply(o, lr, rows) }

func (o *adagrad) dense(p part, lr float32) {
	a := p.s[0]
	for i, g := range p.g {
		a[i] += float32(g * g)
		p.w[i] -= float32(float32(g*lr) * (1 / sqrt(a[i])))
	}
}

func (o *adagrad) rows(p part, lr float32) { o.dense(p, lr) }
