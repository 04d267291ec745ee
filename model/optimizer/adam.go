package optimizer

import (
	"cmp"

	"ringtrain/model"
	"ringtrain/model/internal/kernel"
)

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
// Rows: m ← m·β₁ + g·(1−β₁) and v ← v·β₂ + g²·(1−β₂), where g is 0 for rows that are
// not in the batch, and every weight changes. lazy-adam changes only the rows of the batch.
//
// adamw is Keras's AdamW (Loshchilov and Hutter, "Decoupled weight decay
// regularization", 2019), with slots "AdamW" and "AdamW_1". First it applies
//
//	w ← w − w·λ·η
//
// to every weight, including biases and rows that are not in the batch. A penalty's
// gradient is that of the weights before this decay. As in Keras, 1−β uses the β of the job
// file, not its float32 rounding.
type adam struct {
	state
	beta1, beta2, epsilon float32
	rest1, rest2          float32   // 1−β₁ and 1−β₂
	decay                 float32   // λ of adamw, 0 for adam
	lazy                  bool      // rows without a gradient do not change
	alpha                 float32   // of the current step
	power1, power2        []float32 // β₁ᵗ and β₂ᵗ, one element each
}

func newAdam(c Config, vars []*model.Variable, engine func() *kernel.Engine) *adam {
	o := &adam{beta1: c.beta1(), beta2: c.beta2(), epsilon: c.epsilon(), lazy: c.Name == "lazy-adam"}
	o.rest1, o.rest2 = 1-o.beta1, 1-o.beta2
	if c.Name == "adamw" {
		o.state, o.decay = newState(engine, vars, "AdamW", 0, 0), c.weightDecay()
		o.rest1, o.rest2 = rest(c.Beta1, 0.9), rest(c.Beta2, 0.999)
	} else {
		o.state = newState(engine, vars, "Adam", 0, 0)
	}
	o.power1, o.power2 = []float32{o.beta1}, []float32{o.beta2}
	return o
}

// rest returns 1−β, rounded once.
func rest(beta *float64, otherwise float64) float32 {
	return float32(1 - *cmp.Or(beta, &otherwise))
}

// Slots returns the powers first.
func (o *adam) Slots() []Slot {
	powers := []Slot{{Name: "beta1_power", Shape: []int{}, Value: o.power1}, {Name: "beta2_power", Shape: []int{}, Value: o.power2}}
	return append(powers, o.state.Slots()...)
}

func (o *adam) Apply(lr float32, g *RowGrad) {
	o.alpha = lr * sqrt(1-o.power2[0]) / (1 - o.power1[0])
	o.apply(o, lr, g)
	o.power1[0] *= o.beta1
	o.power2[0] *= o.beta2
}

func (o *adam) dense(p part, lr float32) {
	p.C = [6]float32{o.alpha, o.rest1, o.rest2, o.epsilon, o.decay, lr}
	if o.decay != 0 {
		o.engine().Update(kernel.AdamW, &p)
	} else {
		o.engine().Update(kernel.Adam, &p)
	}
}

func (o *adam) rows(u *kernel.RowUpdate, lr float32) kernel.Rule {
	u.C = [6]float32{o.alpha, o.rest1, o.rest2, o.epsilon, o.beta1, o.beta2}
	if u.Whole = !o.lazy; u.Whole {
		u.Decay, u.Rate = o.decay, lr
	}
	return kernel.AdamRows
}
