package optimizer

import "ringtrain/model"

// adam is TensorFlow's AdamOptimizer (Kingma and Ba, "Adam: a method for
// stochastic optimization", 2015), with slots m ("Adam", from 0) and v
// ("Adam_1", from 0). At step t = 1, 2, …:
//
//	α = η·√(1−β₂ᵗ)/(1−β₁ᵗ)
//	m ← m + (g−m)·(1−β₁)
//	v ← v + (g²−v)·(1−β₂)
//	w ← w − m·α/(√v+ε)
//
// The powers start at β₁ and β₂, are multiplied after each step, and are the
// scalars "beta1_power" and "beta2_power". ε is the one before section 2.1 of
// the paper ("epsilon hat"); PyTorch adds it after the bias correction, so equal
// settings train differently.
//
// Rows: m ← m·β₁ + g·(1−β₁) and v ← v·β₂ + g²·(1−β₂), where g is 0 for rows
// that the batch does not touch, and every weight moves. The variant that
// leaves those alone is another optimizer (LazyAdam).
type adam struct {
	state
	beta1, beta2, epsilon float32
	power1, power2        []float32 // β₁ᵗ and β₂ᵗ, one element each
}

func newAdam(c Config, vars []*model.Variable) *adam {
	o := &adam{state: newState(vars, "Adam", 0, 0), beta1: c.beta1(), beta2: c.beta2(), epsilon: c.epsilon()}
	o.power1, o.power2 = []float32{o.beta1}, []float32{o.beta2}
	return o
}

// Slots has the powers first.
func (o *adam) Slots() []Slot {
	powers := []Slot{{"beta1_power", []int{}, o.power1}, {"beta2_power", []int{}, o.power2}}
	return append(powers, o.state.Slots()...)
}

func (o *adam) Apply(lr float32, rows [][]int64) {
	o.mustFit(rows)
	alpha := lr * sqrt(1-o.power2[0]) / (1 - o.power1[0])
	for i, v := range o.vars {
		p := o.all(i)
		if !v.ByRows {
			o.dense(p, alpha)
			continue
		}
		width, done := v.RowLen(), 0
		for todo := rows[i]; len(todo) > 0; {
			var lo, hi int
			lo, hi, todo = nextRun(todo, v.Shape[0])
			o.untouched(p.cut(done, lo*width), alpha)
			o.rows(p.cut(lo*width, hi*width), alpha)
			done = hi * width
		}
		o.untouched(p.cut(done, len(p.w)), alpha)
	}
	o.power1[0] *= o.beta1
	o.power2[0] *= o.beta2
}

func (o *adam) dense(p part, alpha float32) {
	m, v := p.s[0], p.s[1]
	rest1, rest2 := 1-o.beta1, 1-o.beta2
	for i, g := range p.g {
		m[i] += float32((g - m[i]) * rest1)
		v[i] += float32((float32(g*g) - v[i]) * rest2)
		p.w[i] -= float32(m[i]*alpha) / (sqrt(v[i]) + o.epsilon)
	}
}

func (o *adam) rows(p part, alpha float32) {
	m, v := p.s[0], p.s[1]
	rest1, rest2 := 1-o.beta1, 1-o.beta2
	for i, g := range p.g {
		m[i] = float32(m[i]*o.beta1) + float32(g*rest1)
		v[i] = float32(v[i]*o.beta2) + float32(float32(g*g)*rest2)
		p.w[i] -= float32(alpha*m[i]) / (sqrt(v[i]) + o.epsilon)
	}
}

// untouched is rows for a gradient of 0, whatever p.g holds.
func (o *adam) untouched(p part, alpha float32) {
	m, v := p.s[0], p.s[1]
	for i := range p.w {
		m[i] *= o.beta1
		v[i] *= o.beta2
		p.w[i] -= float32(alpha*m[i]) / (sqrt(v[i]) + o.epsilon)
	}
}
