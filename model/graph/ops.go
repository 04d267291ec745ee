package graph

import (
	"fmt"
	"slices"
)

// Op is the kind of a node, with Keras's name.
type Op string

// The kinds of nodes.
const (
	OpDense         Op = "dense"           // x·kernel + bias
	OpConv2D        Op = "conv2d"          // cross-correlation of an image with kernels, + bias
	OpMaxPool2D     Op = "max_pool2d"      // largest element of each window
	OpAvgPool2D     Op = "avg_pool2d"      // mean of each window, of the elements inside the image
	OpGlobalAvgPool Op = "global_avg_pool" // mean of each channel
	OpFlatten       Op = "flatten"         // the same values, row-major
	OpReLU          Op = "relu"            // max(x, 0)
	OpLeakyReLU     Op = "leaky_relu"      // x, or Alpha·x below 0
	OpTanh          Op = "tanh"
	OpSigmoid       Op = "sigmoid"
	OpGELU          Op = "gelu"       // x·Φ(x), with the error function
	OpDropout       Op = "dropout"    // in training, 0 at the given rate, else x/(1−rate)
	OpLayerNorm     Op = "layer_norm" // over the last axis, times gamma, + beta
	OpAdd           Op = "add"        // of two inputs or more of one shape
	OpConcat        Op = "concat"     // along the last axis
	OpSparse        Op = "sparse"     // Σ weights[id]·value + bias over an example's ids
	OpEmbedding     Op = "embedding"  // Σ embeddings[id]·value over the ids of each field, side by side
	OpFM            Op = "fm"         // ½·Σ((Σ v)² − Σ v²) over an example's v = embedding[id]·value
	OpCross         Op = "cross"      // x₀·(x·kernel + bias) + x, x₀ the first input and x the last
)

// An opKind is all that distinguishes an Op from the others in a graph.
type opKind struct {
	op         Op
	many       bool // it may have several inputs
	ids        bool // it reads a sparse port
	activation bool // a layer's option activation may name it

	// infer sets the variables and the output shape of n for inputs of shapes in. An error has the actual
	// shape and the requirement of the op. nil: the output has the shape of the input.
	infer func(n *Node, in []Shape) error

	// flops returns the operations of one example; see [Node.FLOPs]. nil: one per element of the output.
	flops func(n *Node, in []Shape) int
}

// ops has all kinds of nodes.
var ops = []opKind{
	{op: OpDense, infer: (*Node).inferDense, flops: flopsOfKernel},
	{op: OpConv2D, infer: (*Node).inferConv, flops: flopsOfKernel},
	{op: OpMaxPool2D, infer: (*Node).inferPool, flops: flopsOfWindow},
	{op: OpAvgPool2D, infer: (*Node).inferPool, flops: flopsOfWindow},
	{op: OpGlobalAvgPool, infer: (*Node).inferGlobalPool, flops: func(_ *Node, in []Shape) int { return in[0].Len() }},
	{op: OpFlatten, infer: (*Node).inferFlatten, flops: noFLOPs},
	{op: OpReLU, activation: true},
	{op: OpLeakyReLU, activation: true},
	{op: OpTanh, activation: true},
	{op: OpSigmoid, activation: true},
	{op: OpGELU, activation: true},
	{op: OpDropout},
	{op: OpLayerNorm, infer: (*Node).inferLayerNorm, flops: func(n *Node, _ []Shape) int { return product(8, n.Out.Len()) }},
	{op: OpAdd, many: true, infer: (*Node).inferAdd, flops: func(n *Node, in []Shape) int { return product(len(in)-1, n.Out.Len()) }},
	{op: OpConcat, many: true, infer: (*Node).inferConcat, flops: noFLOPs},
	{op: OpSparse, ids: true, infer: (*Node).inferSparse, flops: func(n *Node, _ []Shape) int {
		return product(n.Out.Len(), sum(1, product(2, n.Attr.Fields)))
	}},
	{op: OpEmbedding, ids: true, infer: (*Node).inferEmbedding, flops: func(n *Node, _ []Shape) int { return product(2, n.Out.Len()) }},
	{op: OpFM, infer: (*Node).inferFM, flops: func(n *Node, _ []Shape) int {
		// product, square and two sums for each id; square, difference and sum for each column
		return product(n.Attr.Size, sum(3, product(4, n.Attr.Fields)))
	}},
	{op: OpCross, many: true, infer: (*Node).inferCross, flops: func(n *Node, _ []Shape) int {
		return product(n.Out.Len(), sum(3, product(2, n.Vars[0].FanIn)))
	}},
}

func flopsOfKernel(n *Node, _ []Shape) int {
	perOutput := product(2, n.Vars[0].FanIn)
	if !n.Attr.NoBias {
		perOutput = sum(perOutput, 1)
	}
	return product(n.Out.Len(), perOutput)
}

func flopsOfWindow(n *Node, _ []Shape) int {
	return product(n.Out.Len(), product(n.Attr.Window[0], n.Attr.Window[1]))
}

func noFLOPs(*Node, []Shape) int { return 0 }

// kind returns what distinguishes o, false if there is no such op.
func (o Op) kind() (opKind, bool) {
	if i := slices.IndexFunc(ops, func(k opKind) bool { return k.op == o }); i >= 0 {
		return ops[i], true
	}
	return opKind{}, false
}

// ReadsIDs reports whether nodes of op o read a sparse port.
func (o Op) ReadsIDs() bool {
	k, _ := o.kind()
	return k.ids
}

// Activations returns the ops that a layer's option activation may name.
func Activations() []string {
	var names []string
	for _, k := range ops {
		if k.activation {
			names = append(names, string(k.op))
		}
	}
	return names
}

// infer sets the variables and the output shape of n for inputs of shapes in.
func (n *Node) infer(in []Shape) error {
	k, ok := n.Op.kind()
	switch {
	case !ok:
		return fmt.Errorf("no layer %q", n.Op)
	case !k.many && len(in) != 1:
		return fmt.Errorf("has %d inputs, want one", len(in))
	case k.infer == nil:
		n.Out = in[0]
		return nil
	}
	return k.infer(n, in)
}

// FLOPs returns the floating-point operations of n's forward pass over one example: two
// per multiply-add, one per other operation on an element. in has the shapes of its
// inputs. Layers of ids count one id per field. The number is for information, not for
// schedules.
func (n *Node) FLOPs(in []Shape) int {
	if k, _ := n.Op.kind(); k.flops != nil {
		return k.flops(n, in)
	}
	return n.Out.Len()
}
