package model

import (
	"math"

	"ringtrain/model/graph"
	"ringtrain/model/internal/kernel"
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

func newEmbedding(n *graph.Node, v *Variable, first int) *embedding {
	return &embedding{table: newTable(v), first: first, pooling: n.Attr.Pooling}
}

func (l *embedding) forward(p *pass, in []value, out *tensor.Matrix) {
	l.gather(p, in[0].bags)
	if l.unread {
		return
	}
	l.pairs = byField(l.bags)
	l.scales()
	p.engine.PoolRows(out.Data, l.read(), &l.pairs)
}

func (l *embedding) backward(p *pass, dy tensor.Matrix, _ []grad) {
	if !l.unread {
		p.engine.PoolRowsGrad(l.v.rowGrad(), dy.Data, &l.pairs)
	}
	p.isReady(l.first)
}

// scales sets the factors of the fields' sums, as in TensorFlow's
// embedding_lookup_sparse.
func (l *embedding) scales() {
	if l.pooling == graph.PoolSum {
		return
	}
	n := l.pairs.Len()
	if cap(l.scale) < n {
		l.scale = make([]float32, n)
	}
	l.scale = l.scale[:n]
	for i := range l.scale {
		var sum, squares float32
		for _, w := range l.bags.Weights[l.bags.Start[i]:l.bags.Start[i+1]] {
			sum += w
			squares += float32(w * w)
		}
		divisor := sum
		if l.pooling == graph.PoolSqrtN {
			divisor = float32(math.Sqrt(float64(squares)))
		}
		if l.scale[i] = 0; divisor != 0 {
			l.scale[i] = 1 / divisor
		}
	}
	l.pairs.Scale = l.scale
}
