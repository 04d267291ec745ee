package model

import "ringtrain/model/tensor"

// sparse is the layer y = Σ weights[id]·value + bias over the ids of an example.
// An id that occurs twice counts twice.
//
//	weights [ids, 1], by rows   bias [1]   y [n, 1]
type sparse struct {
	weights, bias *Variable
	first         int // number of weights among the model's variables; bias follows

	x *tensor.Sparse
}

func (s *sparse) forward(_ *pass, in []value, out *tensor.Matrix) {
	s.x = in[0].ids
	w, bias := s.weights.Value, s.bias.Value[0]
	for i := range out.Rows {
		var sum float32
		ids, values := s.x.Row(i)
		for k, id := range ids {
			if uint64(id) >= uint64(len(w)) {
				panic("model: feature id is out of range")
			}
			sum += float32(w[id] * values[k])
		}
		out.Data[i] = sum + bias
	}
}

// backward adds value·dy to the gradient of each id's weight. The caller has
// zeroed the rows of earlier batches, so that a step need not touch the others.
func (s *sparse) backward(p *pass, dy tensor.Matrix, _ []grad) {
	p.engine.SumRows(s.bias.Grad, dy.Data, dy.Rows, p.accumulate)
	p.isReady(s.first + 1)
	g := s.weights.Grad
	for i, d := range dy.Data {
		ids, values := s.x.Row(i)
		for k, id := range ids {
			g[id] += float32(values[k] * d)
		}
	}
	p.isReady(s.first)
}
