package model

import (
	"ringtrain/model/internal/kernel"
	"ringtrain/model/tensor"
)

// table is a variable by rows at work. The rows that a batch names are copied once, and lie
// together until backward: layers read row s as that of the id IDs[s].
type table struct {
	v     *Variable
	width int

	bags *tensor.Bags // of the last forward
	rows []float32    // [len(IDs), width]
	grad []float32    // [len(IDs), width], of the backward that is being computed
	open bool         // it has begun
}

func newTable(v *Variable) table { return table{v: v, width: v.RowLen()} }

// gather copies the rows of the ids of b.
func (t *table) gather(p *pass, b *tensor.Bags) {
	t.bags = b
	n := len(b.IDs) * t.width
	if cap(t.rows) < n {
		t.rows, t.grad = make([]float32, n), make([]float32, n)
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

// gradient returns where gradients of the rows are added.
func (t *table) gradient() kernel.Table {
	if t.v.RowStride > 0 {
		return t.v.rowGrad()
	}
	if !t.open {
		t.open, t.grad = true, t.grad[:len(t.rows)]
		clear(t.grad)
	}
	return kernel.Table{Data: t.grad, Width: t.width, Stride: t.width}
}

// end adds the gradients to the variable's: all layers have added theirs.
func (t *table) end() {
	if t.v.RowStride > 0 {
		return
	}
	t.open = false
	w := t.width
	for s, id := range t.bags.IDs {
		g := t.v.Grad[int(id)*w : (int(id)+1)*w]
		for j, d := range t.grad[s*w : (s+1)*w] {
			g[j] += d
		}
	}
}

// byField are the pairs of each field of each example, byExample those of each example.
func byField(b *tensor.Bags) kernel.Bags {
	return kernel.Bags{Start: b.Start, Step: 1, Slot: b.Slot, Weights: b.Weights}
}

func byExample(b *tensor.Bags) kernel.Bags {
	return kernel.Bags{Start: b.Start, Step: max(b.Fields, 1), Slot: b.Slot, Weights: b.Weights}
}
