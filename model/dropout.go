package model

import (
	"hash/fnv"

	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// dropout is the layer that sets a share of its inputs to 0 in training and scales the
// others so that the mean stays (Srivastava et al., "Dropout: a simple way to prevent
// neural networks from overfitting", 2014). The choice depends on the seed, the layer's
// name, the step and the example's position in the global batch, not on the rank.
type dropout struct {
	rate float32
	name uint64 // hash of the layer's name

	drop kernel.Drop // of the last forward; rate 0 drops nothing
}

func newDropout(name string, rate float32) *dropout {
	h := fnv.New64a()
	h.Write([]byte(name))
	return &dropout{rate: rate, name: h.Sum64()}
}

func (d *dropout) forward(p *pass, in []value, out *tensor.Matrix) {
	d.drop = kernel.Drop{Seed: p.seed ^ d.name, Step: uint64(p.step), First: uint64(p.first), Rate: d.rate}
	if !p.train {
		d.drop.Rate = 0
	}
	p.engine.Dropout(out.Data, in[0].Data, out.Rows, d.drop, false)
}

func (d *dropout) backward(p *pass, dy tensor.Matrix, dx []grad) {
	p.engine.Dropout(dx[0].Data, dy.Data, dy.Rows, d.drop, dx[0].add)
}
