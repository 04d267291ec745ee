package optimizer

import (
	"math"

	"ringtrain/model"
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

func newFtrl(c Config, vars []*model.Variable) *ftrl {
	return &ftrl{
		state: newState(vars, "Ftrl", c.initialAccumulator(), 0),
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
	n, z := p.s[0], p.s[1]
	for i, g := range p.g {
		w := p.w[i]
		next := n[i] + float32(g*g)
		root := o.pow(next)
		sigma := (root - o.pow(n[i])) / lr
		if o.twoShrinkage != 0 {
			g += float32(o.twoShrinkage * w)
		}
		z[i] += g - float32(sigma*w)
		p.w[i] = o.weight(z[i], root/lr+o.twoL2)
		n[i] = next
	}
}

func (o *ftrl) rows(p part, lr float32) { o.dense(p, lr) }

// weight is (λ₁·sgn z − z)/denominator, or 0 for a z in [−λ₁, λ₁].
func (o *ftrl) weight(z, denominator float32) float32 {
	switch {
	case z > o.l1:
		return (o.l1 - z) / denominator
	case z < -o.l1:
		return (-o.l1 - z) / denominator
	case z != z: // NaN is not hidden by a weight of 0
		return z
	}
	return 0
}

// pow is x⁻ᵖ.
func (o *ftrl) pow(x float32) float32 {
	if o.power == 0.5 {
		return sqrt(x)
	}
	return float32(math.Pow(float64(x), float64(o.power)))
}
