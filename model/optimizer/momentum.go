package optimizer

import "ringtrain/model/kernel"

// momentum is TensorFlow's MomentumOptimizer, with slot a ("Momentum", from 0):
//
//	a ← a·μ + g
//	w ← w − a·η                 plain
//	w ← w − (g·η + a·μ·η)       Nesterov
//
// The rate multiplies a, not g: a new rate takes effect at once. Keras and PyTorch (in
// its Nesterov form) differ. TensorFlow has no default of μ.
var momentum = kind{
	name:     "momentum",
	settings: []setting{{key: "momentum", standard: "0.9"}, {key: "nesterov"}},
	slot:     "Momentum",
	slots:    func(Config) []float32 { return []float32{0} },
	step: func(c Config, n now) step {
		s := both(kernel.Momentum, n.rate, float32(*c.Momentum))
		if c.Nesterov {
			s.dense.rule, s.rows.rule = kernel.Nesterov, kernel.NesterovRows
		}
		return s
	},
}
