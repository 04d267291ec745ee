package optimizer

import (
	"math"

	"ringtrain/model/kernel"
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
// not in the batch, and every weight changes.
var adam = kind{
	name:     "adam",
	settings: adamSettings("1e-8"),
	slot:     "Adam",
	slots:    func(Config) []float32 { return []float32{0, 0} },
	powers:   true,
	movesAll: true,
	step: func(c Config, n now) step {
		return adamStep(c, n, 1-float32(*c.Beta1), 1-float32(*c.Beta2))
	},
}

// lazyAdam is TensorFlow Addons' LazyAdam: adam that changes only the rows of the batch, and their slots.
var lazyAdam = func() kind {
	k := adam
	k.name, k.settings, k.movesAll = "lazy-adam", adamSettings("1e-7"), false
	return k
}()

// adamW is Keras's AdamW (Loshchilov and Hutter, "Decoupled weight decay
// regularization", 2019), with slots "AdamW" and "AdamW_1". First it applies
//
//	w ← w − w·λ·η
//
// to every weight, including biases and rows that are not in the batch. A penalty's
// gradient is that of the weights before this decay. As in Keras, 1−β uses the β of the job
// file, not its float32 rounding.
var adamW = kind{
	name:     "adamw",
	settings: append(adamSettings("1e-7"), setting{key: "weight_decay", standard: "0.004"}),
	slot:     "AdamW",
	slots:    adam.slots,
	powers:   true,
	movesAll: true,
	step: func(c Config, n now) step {
		s := adamStep(c, n, float32(1-*c.Beta1), float32(1-*c.Beta2))
		if s.decay = float32(*c.WeightDecay); s.decay != 0 {
			s.dense.rule, s.dense.c[4], s.dense.c[5] = kernel.AdamW, s.decay, n.rate
		}
		return s
	},
}

func adamSettings(epsilon string) []setting {
	return []setting{
		{key: "learning_rate", standard: "0.001"}, {key: "beta1", standard: "0.9"}, {key: "beta2", standard: "0.999"},
		{key: "epsilon", standard: epsilon},
	}
}

// adamStep returns a step without decay of weights, for 1−β₁ and 1−β₂.
func adamStep(c Config, n now, rest1, rest2 float32) step {
	root := float32(math.Sqrt(float64(1 - n.power2))) // rounded once, as the float32 root
	constants := [6]float32{n.rate * root / (1 - n.power1), rest1, rest2, float32(*c.Epsilon)}
	s := step{dense: form{kernel.Adam, constants}, rows: form{kernel.AdamRows, constants}}
	s.rows.c[4], s.rows.c[5] = float32(*c.Beta1), float32(*c.Beta2)
	return s
}
