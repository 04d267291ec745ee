package model

import (
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// sparse is the layer y = Σ weights[id]·value + bias over the ids of all fields of an
// example. An id that occurs twice counts twice.
//
//	weights [ids, units], by rows   bias [units]   y [n, units]
type sparse struct {
	table
	bias  *Variable
	first int // index of weights in the model's variables; bias is next

	pairs kernel.Bags // of the last forward
}

func (s *sparse) forward(p *pass, in []value, out *tensor.Matrix) {
	s.gather(p, in[0].bags)
	s.pairs = byExample(s.bags)
	p.engine.PoolRows(out.Data, s.read(), &s.pairs)
	bias := s.bias.Value
	for i := range out.Rows {
		y := out.Row(i)
		for j, b := range bias {
			y[j] += b
		}
	}
}

// backward adds value·dy to the gradient of each id's weights.
func (s *sparse) backward(p *pass, dy tensor.Matrix, _ []grad) {
	p.engine.SumRows(s.bias.Grad, dy.Data, dy.Rows, p.accumulate)
	p.isReady(s.first + 1)
	p.engine.PoolRowsGrad(s.v.rowGrad(), dy.Data, &s.pairs)
	p.isReady(s.first)
}
