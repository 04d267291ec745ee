package model

import (
	"ringtrain/model/graph"
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// dense is the layer y = x·kernel + bias.
//
//	x [n, in]   kernel [in, units]   bias [units]   y [n, units]
type dense struct {
	kernel, bias *Variable // bias may be nil
	first        int       // index of kernel in the model's variables; bias is next
	in, units    int
	act          kernel.Activation
	input        bool // x is the model's input, which may be mostly zeros

	x        tensor.Matrix
	nonZeros kernel.NonZeros // of x
	listed   bool            // use nonZeros instead of x in products
}

func newDense(n *graph.Node, in graph.Shape, vars []*Variable, first int) *dense {
	d := &dense{kernel: vars[0], first: first, in: in.Len(), units: n.Attr.Units}
	if !n.Attr.NoBias {
		d.bias = vars[1]
	}
	return d
}

func (d *dense) fuseReLU() { d.act = kernel.ReLU }

func (d *dense) forward(p *pass, in []value, out *tensor.Matrix) {
	d.x = in[0].Matrix
	var bias []float32
	if d.bias != nil {
		bias = d.bias.Value
	}
	d.listed = d.input && p.engine.Scan(&d.nonZeros, d.x.Data, d.x.Rows, d.in, d.units)
	if d.listed {
		p.engine.GemmNonZeros(out.Data, &d.nonZeros, d.kernel.Value, bias, d.units, d.act)
		return
	}
	p.engine.Gemm(out.Data, d.x.Data, d.kernel.Value, bias, d.x.Rows, d.units, d.in, d.act)
}

// backward: dbias = Σ rows of dy, dkernel = xᵀ·dy, dx = dy·kernelᵀ.
func (d *dense) backward(p *pass, dy tensor.Matrix, dx []grad) {
	if d.bias != nil {
		p.engine.SumRows(d.bias.Grad, dy.Data, dy.Rows, p.accumulate)
		p.isReady(d.first + 1)
	}
	if d.listed {
		p.engine.GemmNonZerosTA(d.kernel.Grad, &d.nonZeros, dy.Data, d.units, p.accumulate)
	} else {
		p.engine.GemmTA(d.kernel.Grad, d.x.Data, dy.Data, d.in, d.units, dy.Rows, p.accumulate)
	}
	p.isReady(d.first)
	if dx[0].wanted() {
		p.engine.GemmTB(dx[0].Data, dy.Data, d.kernel.Value, dy.Rows, d.in, d.units, dx[0].add)
	}
}
