package optimizer

import "ringtrain/model/kernel"

// rmsprop is TensorFlow's RMSPropOptimizer (Tieleman and Hinton, 2012), with
// slots r ("RMSProp", from 1, not 0) and q ("RMSProp_1", from 0):
//
//	r ← r + (g²−r)·(1−ρ)
//	q ← q·μ + g·η/√(r+ε)
//	w ← w − q
//
// centered has the additional slot h (r, h, q are "RMSProp", "_1", "_2"; h from 0):
// h ← h + (g−h)·(1−ρ), and the root is of (r−h²)+ε. If a gradient's variance is all
// rounding, this may be negative and the result NaN, as in TensorFlow.
var rmsprop = kind{
	name: "rmsprop",
	settings: []setting{{key: "rho", standard: "0.9"}, {key: "momentum", standard: "0"}, {key: "epsilon", standard: "1e-10"},
		{key: "centered"}},
	slot: "RMSProp",
	slots: func(c Config) []float32 {
		if c.Centered {
			return []float32{1, 0, 0}
		}
		return []float32{1, 0}
	},
	step: func(c Config, n now) step {
		rho := float32(*c.Rho)
		constants := [6]float32{n.rate, 1 - rho, float32(*c.Momentum), float32(*c.Epsilon)}
		s := step{dense: form{kernel.RMSProp, constants}, rows: form{kernel.RMSPropRows, constants}}
		s.rows.c[4] = rho
		if c.Centered {
			s.dense.rule, s.rows.rule, s.swap = kernel.RMSPropCentered, kernel.RMSPropRowsMean, true // the kernel has h last
		}
		return s
	},
}
