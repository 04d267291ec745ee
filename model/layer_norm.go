package model

import (
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// layerNorm is the layer y = (x−mean)/√(variance+ε)·gamma + beta, mean and variance over
// the last axis of each example (Ba et al., "Layer normalization", 2016). There is no
// batch norm on purpose: it would make examples depend on each other across ranks.
//
//	gamma, beta [channels]
type layerNorm struct {
	gamma, beta *Variable
	first       int // index of gamma in the model's variables; beta is next
	epsilon     float32

	x    tensor.Matrix
	norm kernel.Norm
}

func (l *layerNorm) forward(p *pass, in []value, out *tensor.Matrix) {
	l.x = in[0].Matrix
	l.norm.Gamma, l.norm.Beta, l.norm.Epsilon = l.gamma.Value, l.beta.Value, l.epsilon
	if n := len(l.x.Data) / len(l.gamma.Value); cap(l.norm.Mean) < n {
		l.norm.Mean, l.norm.Inv = make([]float32, n), make([]float32, n)
	} else {
		l.norm.Mean, l.norm.Inv = l.norm.Mean[:n], l.norm.Inv[:n]
	}
	p.engine.LayerNorm(out.Data, l.x.Data, l.norm)
}

func (l *layerNorm) backward(p *pass, dy tensor.Matrix, dx []grad) {
	var d []float32
	if dx[0].wanted() {
		d = dx[0].Data
	}
	p.engine.LayerNormGrad(d, l.gamma.Grad, l.beta.Grad, dy.Data, l.x.Data, l.norm, dx[0].add, p.accumulate)
	p.isReady(l.first + 1)
	p.isReady(l.first)
}
