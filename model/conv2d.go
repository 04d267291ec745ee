package model

import (
	"ringtrain/model/graph"
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// conv2D is the layer y = x ⋆ kernel + bias. ⋆ is the cross-correlation, which neural
// networks call convolution.
//
//	x [n, h, w, c]   kernel [height, width, c, filters]   bias [filters]   y [n, outH, outW, filters]
type conv2D struct {
	kernel, bias *Variable // bias may be nil
	first        int       // index of kernel in the model's variables; bias is next
	conv         kernel.Conv
	act          kernel.Activation

	x tensor.Matrix
}

func newConv2D(n *graph.Node, in graph.Shape, vars []*Variable, first int) *conv2D {
	a := n.Attr
	l := &conv2D{kernel: vars[0], first: first, conv: kernel.Conv{
		H: in[0], W: in[1], C: in[2], Height: a.Window[0], Width: a.Window[1], Filters: a.Units,
		StrideH: a.Stride[0], StrideW: a.Stride[1], Same: a.Same,
	}}
	if !a.NoBias {
		l.bias = vars[1]
	}
	return l
}

func (c *conv2D) fuseReLU() { c.act = kernel.ReLU }

func (c *conv2D) forward(p *pass, in []value, out *tensor.Matrix) {
	c.x = in[0].Matrix
	var bias []float32
	if c.bias != nil {
		bias = c.bias.Value
	}
	p.engine.Conv(out.Data, c.x.Data, c.kernel.Value, bias, c.conv, c.act)
}

// backward: dbias = Σ cells of dy.
func (c *conv2D) backward(p *pass, dy tensor.Matrix, dx []grad) {
	if c.bias != nil {
		p.engine.SumRows(c.bias.Grad, dy.Data, len(dy.Data)/c.conv.Filters, p.accumulate)
		p.isReady(c.first + 1)
	}
	p.engine.ConvKernelGrad(c.kernel.Grad, c.x.Data, dy.Data, c.conv, p.accumulate)
	p.isReady(c.first)
	if dx[0].wanted() {
		p.engine.ConvInputGrad(dx[0].Data, dy.Data, c.kernel.Value, c.conv, dx[0].add)
	}
}
