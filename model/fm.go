package model

import (
	"ringtrain/model/graph"
	"ringtrain/model/internal/kernel"
	"ringtrain/model/tensor"
)

// fm is the second order of a factorization machine (Rendle, "Factorization machines",
// 2010) over all ids of an example, for any fields and pooling. It reads the table of an
// embedding and adds to its gradient. With several units each unit has its own part of
// every row, as in one machine per class.
//
//	v = embedding[id]·value   y = ½·Σ_j ((Σ v_j)² − Σ v_j²)   y [n, units]
type fm struct {
	of    *embedding
	units int

	pairs kernel.Bags // of the last forward
	sum   tensor.Matrix
}

func newFM(n *graph.Node) *fm { return &fm{units: n.Attr.Units} }

func (l *fm) forward(p *pass, _ []value, out *tensor.Matrix) {
	l.pairs = byExample(l.of.bags)
	l.sum.Resize(out.Rows, l.of.width)
	p.engine.Interact(out.Data, l.sum.Data, l.of.read(), l.units, &l.pairs)
}

func (l *fm) backward(p *pass, dy tensor.Matrix, _ []grad) {
	p.engine.InteractGrad(l.of.v.rowGrad(), dy.Data, l.sum.Data, l.of.read(), l.units, &l.pairs)
}
