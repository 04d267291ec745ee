package model

import (
	"ringtrain/model/graph"
	"ringtrain/model/internal/kernel"
	"ringtrain/model/tensor"
)

// cross is the layer of the cross network, version 2 (Wang et al., "DCN V2", 2021), with a
// full matrix: each layer raises the order of the crossed features by one.
//
//	y = x₀·(x·kernel + bias) + x   kernel [width, width]   bias [width]
//
// x₀ are the first features, and x those of the layer before; with one input they are equal.
type cross struct {
	kernel, bias *Variable
	first        int // index of kernel in the model's variables; bias is next
	width        int

	x0, x tensor.Matrix
	z, dz tensor.Matrix // x·kernel + bias, and its gradient
}

func newCross(n *graph.Node, vars []*Variable, first int) *cross {
	return &cross{kernel: vars[0], bias: vars[1], first: first, width: n.Attr.Units}
}

func (l *cross) forward(p *pass, in []value, out *tensor.Matrix) {
	l.x0, l.x = in[0].Matrix, in[len(in)-1].Matrix
	l.z.Resize(l.x.Rows, l.width)
	p.engine.Gemm(l.z.Data, l.x.Data, l.kernel.Value, l.bias.Value, l.x.Rows, l.width, l.width, kernel.None)
	p.engine.Multiply(out.Data, l.x0.Data, l.z.Data, false)
	p.engine.Add(out.Data, l.x.Data)
}

// backward: dz = dy·x₀, dx₀ = dy·z, dx = dy + dz·kernelᵀ, and those of a dense layer.
func (l *cross) backward(p *pass, dy tensor.Matrix, dx []grad) {
	n := dy.Rows
	l.dz.Resize(n, l.width)
	p.engine.Multiply(l.dz.Data, dy.Data, l.x0.Data, false)
	p.engine.SumRows(l.bias.Grad, l.dz.Data, n, p.accumulate)
	p.isReady(l.first + 1)
	p.engine.GemmTA(l.kernel.Grad, l.x.Data, l.dz.Data, l.width, l.width, n, p.accumulate)
	p.isReady(l.first)
	if d := dx[0]; d.wanted() {
		p.engine.Multiply(d.Data, dy.Data, l.z.Data, d.add)
	}
	d := dx[len(dx)-1]
	if !d.wanted() {
		return
	}
	if d.add || len(dx) == 1 {
		p.engine.Add(d.Data, dy.Data)
	} else {
		copy(d.Data, dy.Data)
	}
	p.engine.GemmTB(d.Data, l.dz.Data, l.kernel.Value, n, l.width, l.width, true)
}
