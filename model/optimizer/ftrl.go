package optimizer

import (
	"math"

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
// λ₁, λ₂ and λₛ are l1, l2 and l2_shrinkage. For p = −½ the powers are roots;
// others are computed in float64 and rounded.
//
// Each step makes w anew from z and n, in proportion to the rate: a rate that
// falls pulls the weights to 0, in TensorFlow too, so a constant one suits ftrl.
// A rate of 0 leaves everything as it is, where TensorFlow refuses it.
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

func (o *ftrl) Apply(lr float32, rows [][]int64) {
	if lr != 0 {
		o.apply(o, lr, rows)
	}
}

func (o *ftrl) dense(p part, lr float32) {
	if o.power == 0.5 {
		p.C = [6]float32{lr, o.l1, o.twoL2, o.twoShrinkage}
		o.engine().Update(kernel.Ftrl, &p)
		return
	}
	n, z := p.S[0], p.S[1]
	for i, g := range p.G {
		w := p.W[i]
		next := n[i] + float32(g*g)
		root := o.pow(next)
		sigma := (root - o.pow(n[i])) / lr
		if o.twoShrinkage != 0 {
			g += float32(o.twoShrinkage * w)
		}
		z[i] += g - float32(sigma*w)
		p.W[i] = kernel.FtrlWeight(z[i], o.l1, root/lr+o.twoL2)
		n[i] = next
	}
}

func (o *ftrl) rows(p part, lr float32) { o.dense(p, lr) }

// pow is x⁻ᵖ.
func (o *ftrl) pow(x float32) float32 { return float32(math.Pow(float64(x), float64(o.power))) }
