package model

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
)

// Init sets all variables to their first values: zero for linear, softmax and
// sparse-linear, whose loss is convex, and for every bias. The kernels of mlp
// are uniform in ±r, with [in, out] the kernel's shape:
//
//	hidden layers   r = √(6/in)         He et al., "Delving deep into rectifiers", 2015
//	last layer      r = √(6/(in+out))   Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks", 2010
//
// The values depend on the seed and the variables' names and shapes only.
func (m *Model) Init(seed uint64) {
	m.mustBePlaced(false)
	for _, v := range m.vars {
		clear(v.Value)
	}
	if m.config.Kind != kindMLP {
		return
	}
	for _, l := range m.layers {
		d, ok := l.(*dense)
		if !ok {
			continue
		}
		fan := d.in
		if d == m.layers[len(m.layers)-1] {
			fan += d.out
		}
		uniform(d.kernel, math.Sqrt(6/float64(fan)), seed)
	}
}

// uniform draws v's values from [−r, r), from a stream of its own.
func uniform(v *Variable, r float64, seed uint64) {
	h := fnv.New64a()
	h.Write([]byte(v.Name))
	pcg := rand.NewPCG(seed, h.Sum64())
	for i := range v.Value {
		u := float64(pcg.Uint64()>>11) * 0x1p-53 // [0, 1)
		v.Value[i] = float32((2*u - 1) * r)
	}
}
