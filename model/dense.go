package model

import (
	"ringtrain/model/graph"
	"ringtrain/model/internal/kernel"
	"ringtrain/model/tensor"
)

// dense is the layer y = x·kernel + bias.
//
//	x [n, in]   kernel [in, units]   bias [units]   y [n, units]
type dense struct {
	kernel, bias *Variable // bias nil: none
	first        int       // number of kernel among the model's variables; bias follows
	in, units    int
	relu         bool // y = max(x·kernel + bias, 0)

	x tensor.Matrix
}

func newDense(n *graph.Node, in graph.Shape, vars []*Variable, first int) *dense {
	d := &dense{kernel: vars[0], first: first, in: in.Len(), units: n.Attr.Units}
	if !n.Attr.NoBias {
		d.bias = vars[1]
	}
	return d
}

func (d *dense) activate() { d.relu = true }

func (d *dense) forward(_ *pass, in []value, out *tensor.Matrix) {
	d.x = in[0].Matrix
	var bias []float32
	if d.bias != nil {
		bias = d.bias.Value
	}
	kernel.Gemm(out.Data, d.x.Data, d.kernel.Value, bias, d.x.Rows, d.units, d.in)
	if d.relu {
		rectify(out.Data)
	}
}

// backward: dbias = Σ rows of dy, dkernel = xᵀ·dy, dx = dy·kernelᵀ.
func (d *dense) backward(p *pass, dy tensor.Matrix, dx []grad) {
	if d.bias != nil {
		sumRows(d.bias.Grad, dy)
		p.isReady(d.first + 1)
	}
	kernel.GemmTA(d.kernel.Grad, d.x.Data, dy.Data, d.in, d.units, dy.Rows)
	p.isReady(d.first)
	if dx[0].wanted() {
		kernel.GemmTB(dx[0].Data, dy.Data, d.kernel.Value, dy.Rows, d.in, d.units)
	}
}

// sumRows replaces dst by the sum of m's rows, in their order.
func sumRows(dst []float32, m tensor.Matrix) {
	clear(dst)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			dst[j] += v
		}
	}
}
