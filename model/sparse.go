package model

import "ringtrain/model/tensor"

// sparse is the layer y = Σ weights[id]·value + bias over the ids of an example.
// An id that occurs twice counts twice.
//
//	weights [ids, 1], by rows   bias [1]   y [n, 1]
type sparse struct {
	weights, bias *Variable
	first         int // number of weights among the model's variables; bias follows

	x *tensor.Bags
}

func (s *sparse) forward(_ *pass, in []value, out *tensor.Matrix) {
	x := in[0].bags
	s.x = x
	w, bias := s.weights.Value, s.bias.Value[0]
	if n := len(x.IDs); n > 0 && int(x.IDs[n-1]) >= len(w) {
		panic("model: feature id is out of range")
	}
	for i := range out.Rows {
		var sum float32
		for k := x.Start[i*x.Fields]; k < x.Start[(i+1)*x.Fields]; k++ {
			sum += float32(w[x.IDs[x.Slot[k]]] * x.Weights[k])
		}
		out.Data[i] = sum + bias
	}
}

// backward adds value·dy to the gradient of each id's weight. The caller has
// zeroed the rows of earlier batches, so that a step need not touch the others.
func (s *sparse) backward(p *pass, dy tensor.Matrix, _ []grad) {
	p.engine.SumRows(s.bias.Grad, dy.Data, dy.Rows, p.accumulate)
	p.isReady(s.first + 1)
	x, g := s.x, s.weights.Grad
	for i, d := range dy.Data {
		for k := x.Start[i*x.Fields]; k < x.Start[(i+1)*x.Fields]; k++ {
			g[x.IDs[x.Slot[k]]] += float32(x.Weights[k] * d)
		}
	}
	p.isReady(s.first)
}
