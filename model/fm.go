package model

import (
	"ringtrain/model/kernel"
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

func (f *fm) forward(p *pass, _ []value, out *tensor.Matrix) {
	f.pairs = byExample(f.of.bags)
	f.sum.Resize(out.Rows, f.of.width)
	p.engine.Interact(out.Data, f.sum.Data, f.of.read(), f.units, &f.pairs)
}

func (f *fm) backward(p *pass, dy tensor.Matrix, _ []grad) {
	p.engine.InteractGrad(f.of.v.rowGrad(), dy.Data, f.sum.Data, f.of.read(), f.units, &f.pairs)
}
