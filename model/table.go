package model

import (
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// table is a variable by rows with its state. gather copies the rows that a batch names;
// the copies stay until backward. Layers read row s as that of the id IDs[s], and add to
// the gradient with the same index.
type table struct {
	v     *Variable
	width int

	bags *tensor.Bags // of the last forward
	rows []float32    // [len(IDs), width]
}

func newTable(v *Variable) table { return table{v: v, width: v.RowLen()} }

// gather copies the rows of the ids of b.
func (t *table) gather(p *pass, b *tensor.Bags) {
	t.bags = b
	n := len(b.IDs) * t.width
	if cap(t.rows) < n {
		t.rows = make([]float32, n)
	}
	t.rows = t.rows[:n]
	if ids := b.IDs; len(ids) > 0 && int(ids[len(ids)-1]) >= t.v.Shape[0] {
		panic("model: feature id is out of range")
	}
	p.engine.GatherRows(t.rows, t.v.rows(), b.IDs)
}

// read returns the copied rows.
func (t *table) read() kernel.Table {
	return kernel.Table{Data: t.rows, Width: t.width, Stride: t.width}
}

// byExample returns the pairs of each example.
func byExample(b *tensor.Bags) kernel.Bags {
	return kernel.Bags{Start: b.Start, Step: max(b.Fields, 1), Slot: b.Slot, Weights: b.Weights}
}
