package optimizer

import "ringtrain/model/kernel"

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
var ftrl = kind{
	name: "ftrl",
	settings: []setting{{key: "initial_accumulator", standard: "0.1"}, {key: "l1"}, {key: "l2"}, {key: "l2_shrinkage"},
		{key: "power", standard: "-0.5"}},
	slot:  "Ftrl",
	slots: func(c Config) []float32 { return []float32{float32(*c.InitialAccumulator), 0} },
	step: func(c Config, n now) step {
		rule, power := kernel.FtrlPower, -float32(*c.Power)
		if power == 0.5 {
			rule = kernel.Ftrl
		}
		s := both(rule, n.rate, float32(c.L1), 2*float32(c.L2), 2*float32(c.L2Shrinkage), power)
		s.none = n.rate == 0
		return s
	},
}
