package model

import (
	"context"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"ringtrain/model/graph"
)

// Init sets all variables to their initial values by the graph's initializers: zero,
// one, uniform in ±r with r from the fan in and fan out, or small (see
// [graph.Initializer]). The values depend only on the seed and the variables' names and
// shapes. When ctx ends, Init returns the cause before the next variable.
func (m *Model) Init(ctx context.Context, seed uint64) error {
	m.checkPlaced(false)
	for i, spec := range m.graph.Variables() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		v := m.vars[i]
		switch spec.Init {
		case graph.Zeros:
			v.zero()
		case graph.Ones:
			for k := range v.Value {
				v.Value[k] = 1
			}
		case graph.Glorot:
			uniform(v, math.Sqrt(6/float64(spec.FanIn+spec.FanOut)), seed)
		case graph.Small:
			InitRows(&spec, seed, 0, v.Value)
		case graph.He:
			uniform(v, math.Sqrt(6/float64(spec.FanIn)), seed)
		}
	}
	return nil
}

// smallRange is r of [graph.Small].
const smallRange = 0.05

// InitRows writes the initial values of rows first, first+1, … of v to dst, uniform in
// ±0.05. A row depends only on the seed, the variable's name and its index, so that
// ranks can initialize parts of a table. v must have the initializer [graph.Small].
func InitRows(v *graph.VarSpec, seed uint64, first int, dst []float32) {
	width := v.Len() / max(1, v.Shape[0])
	h := fnv.New64a()
	h.Write([]byte(v.Name))
	name := h.Sum64()
	var pcg rand.PCG
	for row := uint64(first); len(dst) > 0; row++ {
		pcg.Seed(seed, name+row*0x9e3779b97f4a7c15)
		for j := range dst[:width] {
			u := float64(pcg.Uint64()>>11) * 0x1p-53 // [0, 1)
			dst[j] = float32((2*u - 1) * smallRange)
		}
		dst = dst[width:]
	}
}

// uniform draws v's values from [−r, r), from a random stream per variable.
func uniform(v *Variable, r float64, seed uint64) {
	h := fnv.New64a()
	h.Write([]byte(v.Name))
	pcg := rand.NewPCG(seed, h.Sum64())
	for i := range v.Value {
		u := float64(pcg.Uint64()>>11) * 0x1p-53 // [0, 1)
		v.Value[i] = float32((2*u - 1) * r)
	}
}
