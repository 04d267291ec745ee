package optimizer

import (
	"ringtrain/model"
	"ringtrain/model/internal/kernel"
)

// ftrl is TensorFlow's FtrlOptimizer (McMahan et al., "Ad click prediction: a
// view from the trenches", 2013), with slots n ("Ftrl", from
// initial_accumulator) and z ("Ftrl_1", from 0), for power p:
//
//	n' = n + g²
//	z ← z + (g' − (n'⁻ᵖ−n⁻ᵖ)/η·w)        g' = g + 2λₛ·w
//	w ← 0                                 if |z| ≤ λ₁
//	w ← (λ₁·sgn z − z)/(n'⁻ᵖ/η + 2λ₂)     else
//	n ← n'
//
// λ₁, λ₂ and λₛ are l1, l2 and l2_shrinkage. For p = −½ the powers are roots; other powers
// are computed in float64 and rounded.
//
// Each step computes w from z and n, in proportion to the rate. A falling rate therefore
// pulls the weights to 0, also in TensorFlow: use a constant rate with ftrl. A rate of 0
// changes nothing, where TensorFlow refuses it.
type ftrl struct {
	state
	l1, twoL2, twoShrinkage float32
	power                   float32 // −p
}

func newFtrl(c Config, vars []*model.Variable, engine func() *kernel.Engine) *ftrl {
	return &ftrl{
		state: newState(engine, vars, "Ftrl", c.initialAccumulator(), 0),
		l1:    float32(c.L1), twoL2: 2 * float32(c.L2), twoShrinkage: 2 * float32(c.L2Shrinkage),
		power: -c.power(),
	}
}

func (o *ftrl) Apply(lr float32, g *RowGrad) {
	if lr != 0 {
		o.apply(o, lr, g)
	}
}

func (o *ftrl) dense(p part, lr float32) {
	p.C = o.constants(lr)
	o.engine().Update(o.rule(), &p)
}

func (o *ftrl) rows(u *kernel.RowUpdate, lr float32) kernel.Rule {
	u.C = o.constants(lr)
	return o.rule()
}

func (o *ftrl) constants(lr float32) [6]float32 {
	return [6]float32{lr, o.l1, o.twoL2, o.twoShrinkage, o.power}
}

func (o *ftrl) rule() kernel.Rule {
	if o.power == 0.5 {
		return kernel.Ftrl
	}
	return kernel.FtrlPower
}
