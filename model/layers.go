package model

import (
	"ringtrain/model/graph"
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// pass has the state of a batch that layers need.
type pass struct {
	engine     *kernel.Engine
	train      bool   // a training pass: dropout is active
	accumulate bool   // add gradients to the variables' Grad
	seed       uint64 // of the run
	step       int64  // of the run, for dropout
	first      int64  // position of the first example in the global batch, so that dropout does not depend on the rank
	ready      func(variable int)
}

// isReady reports that the gradient of a variable is complete.
func (p *pass) isReady(variable int) { p.ready(variable) }

// value is an input of a layer: a matrix with a row for each example, or bags of ids.
type value struct {
	tensor.Matrix
	bags *tensor.Bags
}

// grad is the destination of the gradient of an input.
type grad struct {
	tensor.Matrix      // nil Data: not wanted
	add           bool // add to the gradient of another layer
}

func (g *grad) wanted() bool { return g.Data != nil }

// layer is a node of a graph with its state. Matrices have a row for each example, which
// holds the elements of the shape, row-major.
type layer interface {
	// forward writes the output for in. The inputs must not change until backward.
	forward(p *pass, in []value, out *tensor.Matrix)

	// backward receives the gradient of the output. It writes the gradients of the
	// layer's variables and calls p.isReady for each, last one first. It also writes the
	// gradients of the inputs that are wanted. It does not change dy.
	backward(p *pass, dy tensor.Matrix, dx []grad)
}

// view is a layer whose output shares the memory of its input: it changes the values in
// place, or not at all.
type view interface {
	// mask replaces the gradient dy of the output y by that of the input, in place.
	mask(p *pass, y, dy tensor.Matrix)
}

// newLayer returns the layer of a node. vars are its variables; first is the index of
// the first one.
func newLayer(n *graph.Node, in []graph.Shape, vars []*Variable, first int) layer {
	switch n.Op {
	case graph.OpDense:
		return newDense(n, in[0], vars, first)
	case graph.OpConv2D:
		return newConv2D(n, in[0], vars, first)
	case graph.OpSparse:
		return &sparse{table: newTable(vars[0]), bias: vars[1], first: first}
	case graph.OpEmbedding:
		return &embedding{table: newTable(vars[0]), first: first, pooling: n.Attr.Pooling}
	case graph.OpFM:
		return &fm{units: n.Attr.Units}
	case graph.OpCross:
		return &cross{kernel: vars[0], bias: vars[1], first: first, width: n.Attr.Units}
	case graph.OpMaxPool2D:
		return &maxPool{pool: pooling(n, in[0])}
	case graph.OpAvgPool2D:
		return &avgPool{pooling(n, in[0])}
	case graph.OpGlobalAvgPool:
		return &globalAvgPool{in[0][0] * in[0][1], in[0][2]}
	case graph.OpFlatten:
		return flatten{}
	case graph.OpDropout:
		return newDropout(n.Name, n.Attr.Rate)
	case graph.OpLayerNorm:
		return &layerNorm{gamma: vars[0], beta: vars[1], first: first, epsilon: n.Attr.Epsilon}
	case graph.OpAdd:
		return add{}
	case graph.OpConcat:
		l := &concat{}
		for _, s := range in {
			l.widths = append(l.widths, s[len(s)-1])
		}
		return l
	}
	return newActivation(n)
}
