package model

import (
	"math"

	"ringtrain/model/graph"
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// embedding is the layer that pools the rows of a field's ids into one row, with the
// fields side by side. An id that occurs twice counts twice.
//
//	embeddings [ids, size], by rows   y [n, fields·size]
type embedding struct {
	table
	first   int // index of embeddings in the model's variables
	pooling graph.Pooling
	unread  bool // only fm layers read it: it computes no output

	pairs kernel.Bags // of the last forward
	scale []float32   // of the pairs of each field; nil for sums
}

func (e *embedding) forward(p *pass, in []value, out *tensor.Matrix) {
	e.gather(p, in[0].bags)
	if e.unread {
		return
	}
	e.pairs = kernel.Bags{Start: e.bags.Start, Step: 1, Slot: e.bags.Slot, Weights: e.bags.Weights} // of each field of each example
	e.scales()
	p.engine.PoolRows(out.Data, e.read(), &e.pairs)
}

func (e *embedding) backward(p *pass, dy tensor.Matrix, _ []grad) {
	if !e.unread {
		p.engine.PoolRowsGrad(e.v.rowGrad(), dy.Data, &e.pairs)
	}
	p.isReady(e.first)
}

// scales sets the factors of the fields' sums, as in TensorFlow's
// embedding_lookup_sparse.
func (e *embedding) scales() {
	if e.pooling == graph.PoolSum {
		return
	}
	n := e.pairs.Len()
	if cap(e.scale) < n {
		e.scale = make([]float32, n)
	}
	e.scale = e.scale[:n]
	for i := range e.scale {
		var sum, squares float32
		for _, w := range e.bags.Weights[e.bags.Start[i]:e.bags.Start[i+1]] {
			sum += w
			squares += float32(w * w)
		}
		divisor := sum
		if e.pooling == graph.PoolSqrtN {
			divisor = float32(math.Sqrt(float64(squares)))
		}
		e.scale[i] = 0
		if divisor != 0 {
			e.scale[i] = 1 / divisor
		}
	}
	e.pairs.Scale = e.scale
}
