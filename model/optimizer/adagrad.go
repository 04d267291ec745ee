package optimizer

import "ringtrain/model/kernel"

// adagrad is TensorFlow's AdagradOptimizer (Duchi et al., "Adaptive subgradient
// methods", 2011), with slot a ("Adagrad", from initial_accumulator):
//
//	a ← a + g²
//	w ← w − g·η·(1/√a)
//
// There is no ε: the initial accumulator keeps the root above 0.
var adagrad = kind{
	name:     "adagrad",
	settings: []setting{{key: "initial_accumulator", standard: "0.1", takes: "above 0"}},
	slot:     "Adagrad",
	slots:    func(c Config) []float32 { return []float32{float32(*c.InitialAccumulator)} },
	step:     func(_ Config, n now) step { return both(kernel.Adagrad, n.rate) },
}
