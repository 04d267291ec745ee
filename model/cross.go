package model

import (
	"ringtrain/model/kernel"
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

func (c *cross) forward(p *pass, in []value, out *tensor.Matrix) {
	c.x0, c.x = in[0].Matrix, in[len(in)-1].Matrix
	c.z.Resize(c.x.Rows, c.width)
	p.engine.Gemm(c.z.Data, c.x.Data, c.kernel.Value, c.bias.Value, c.x.Rows, c.width, c.width, kernel.None)
	p.engine.Multiply(out.Data, c.x0.Data, c.z.Data, false)
	p.engine.Add(out.Data, c.x.Data)
}

// backward: dz = dy·x₀, dx₀ = dy·z, dx = dy + dz·kernelᵀ, and those of a dense layer.
func (c *cross) backward(p *pass, dy tensor.Matrix, dx []grad) {
	n := dy.Rows
	c.dz.Resize(n, c.width)
	p.engine.Multiply(c.dz.Data, dy.Data, c.x0.Data, false)
	p.engine.SumRows(c.bias.Grad, c.dz.Data, n, p.accumulate)
	p.isReady(c.first + 1)
	p.engine.GemmTA(c.kernel.Grad, c.x.Data, c.dz.Data, c.width, c.width, n, p.accumulate)
	p.isReady(c.first)
	if d := dx[0]; d.wanted() {
		p.engine.Multiply(d.Data, dy.Data, c.z.Data, d.add)
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
	p.engine.GemmTB(d.Data, c.dz.Data, c.kernel.Value, n, c.width, c.width, true)
}
