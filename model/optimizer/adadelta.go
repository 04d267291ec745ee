package optimizer

import "ringtrain/model/kernel"

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
var adadelta = kind{
	name:     "adadelta",
	settings: []setting{{key: "learning_rate", standard: "0.001"}, {key: "rho", standard: "0.95"}, {key: "epsilon", standard: "1e-8"}},
	slot:     "Adadelta",
	slots:    func(Config) []float32 { return []float32{0, 0} },
	step: func(c Config, n now) step {
		rho := float32(*c.Rho)
		return both(kernel.Adadelta, n.rate, rho, 1-rho, float32(*c.Epsilon))
	},
}
