package model

import (
	"ringtrain/model/graph"
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// pooling returns the window of a pooling node over images of shape in.
func pooling(n *graph.Node, in graph.Shape) kernel.Pooling {
	a := n.Attr
	return kernel.Pooling{
		H: in[0], W: in[1], C: in[2], Height: a.Window[0], Width: a.Window[1],
		StrideH: a.Stride[0], StrideW: a.Stride[1], Same: a.Same,
	}
}

// maxPool is the layer that keeps the largest element of each window, the first of equal
// ones.
type maxPool struct {
	pool kernel.Pooling
	arg  []int32 // index of each output in its window
}

func (m *maxPool) forward(p *pass, in []value, out *tensor.Matrix) {
	if n := len(out.Data); cap(m.arg) < n {
		m.arg = make([]int32, n)
	} else {
		m.arg = m.arg[:n]
	}
	p.engine.MaxPool(out.Data, m.arg, in[0].Data, m.pool)
}

func (m *maxPool) backward(p *pass, dy tensor.Matrix, dx []grad) {
	p.engine.MaxPoolGrad(dx[0].Data, dy.Data, m.arg, m.pool, dx[0].add)
}

// avgPool is the layer that computes the mean of each window's elements inside the
// image.
type avgPool struct{ pool kernel.Pooling }

func (a *avgPool) forward(p *pass, in []value, out *tensor.Matrix) {
	p.engine.AvgPool(out.Data, in[0].Data, a.pool)
}

func (a *avgPool) backward(p *pass, dy tensor.Matrix, dx []grad) {
	p.engine.AvgPoolGrad(dx[0].Data, dy.Data, a.pool, dx[0].add)
}

// globalAvgPool is the layer that computes the mean of each channel.
type globalAvgPool struct{ cells, channels int }

func (g *globalAvgPool) forward(p *pass, in []value, out *tensor.Matrix) {
	p.engine.GlobalAvgPool(out.Data, in[0].Data, g.cells, g.channels)
}

func (g *globalAvgPool) backward(p *pass, dy tensor.Matrix, dx []grad) {
	p.engine.GlobalAvgPoolGrad(dx[0].Data, dy.Data, g.cells, g.channels, dx[0].add)
}
