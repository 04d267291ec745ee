package model

import "ringtrain/model/tensor"

// sparse is the layer y = Σ weights[id]·value + bias over the ids of an example.
// An id that occurs twice counts twice.
//
//	weights [dim, 1], by rows   bias [1]   y [n, 1]
type sparse struct {
	weights, bias *Variable
	first         int // index of weights among the model's variables; bias follows

	x *tensor.Sparse
	y tensor.Matrix
}

func newSparse(name string, dim int) *sparse {
	return &sparse{
		weights: &Variable{Name: name + "/weights", Shape: []int{dim, 1}, ByRows: true},
		bias:    &Variable{Name: name + "/bias", Shape: []int{1}},
	}
}

func (s *sparse) forward(x *tensor.Sparse) tensor.Matrix {
	s.x = x
	n := x.Rows()
	s.y.Resize(n, 1)
	w, bias := s.weights.Value, s.bias.Value[0]
	for i := range n {
		var sum float32
		ids, values := x.Row(i)
		for k, id := range ids {
			if uint64(id) >= uint64(len(w)) {
				panic("model: feature id is out of range")
			}
			sum += float32(w[id] * values[k])
		}
		s.y.Data[i] = sum + bias
	}
	return s.y
}

// backward adds value·dy to the gradient of each id's weight. The caller has
// zeroed the rows of earlier batches, so that a step need not touch the others.
func (s *sparse) backward(dy tensor.Matrix, ready func(variable int)) {
	sumRows(s.bias.Grad, dy)
	ready(s.first + 1)
	g := s.weights.Grad
	for i, d := range dy.Data {
		ids, values := s.x.Row(i)
		for k, id := range ids {
			g[id] += float32(values[k] * d)
		}
	}
	ready(s.first)
}
