package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// infer sets the variables and the output shape of n for inputs of shapes in. An error
// has the actual shape and the requirement of the op.
func (n *Node) infer(in []Shape) error {
	if n.Op != OpAdd && n.Op != OpConcat && n.Op != OpCross && len(in) != 1 {
		return fmt.Errorf("has %d inputs, want one", len(in))
	}
	switch n.Op {
	case OpDense:
		return n.inferDense(in[0])
	case OpConv2D:
		return n.inferConv(in[0])
	case OpMaxPool2D, OpAvgPool2D:
		return n.inferWindow(in[0], in[0][len(in[0])-1])
	case OpGlobalAvgPool:
		if !in[0].IsImage() {
			return wantImage(in[0])
		}
		n.Out = Shape{in[0][2]}
		return nil
	case OpFlatten:
		n.Out = Shape{in[0].Len()}
		return nil
	case OpReLU, OpTanh, OpSigmoid, OpGELU:
		n.Out = in[0]
		return nil
	case OpLeakyReLU:
		n.Out = in[0]
		if !(n.Attr.Alpha >= 0) || math.IsInf(float64(n.Attr.Alpha), 0) {
			return fmt.Errorf("negative_slope is %g, want a number of 0 or more", n.Attr.Alpha)
		}
		return nil
	case OpDropout:
		n.Out = in[0]
		if !(n.Attr.Rate >= 0 && n.Attr.Rate < 1) {
			return fmt.Errorf("rate is %g, want 0 or more and below 1", n.Attr.Rate)
		}
		return nil
	case OpLayerNorm:
		return n.inferLayerNorm(in[0])
	case OpAdd:
		return n.inferAdd(in)
	case OpConcat:
		return n.inferConcat(in)
	case OpSparse:
		return n.inferSparse(in[0])
	case OpEmbedding:
		return n.inferEmbedding(in[0])
	case OpFM:
		return n.inferFM()
	case OpCross:
		return n.inferCross(in)
	}
	return fmt.Errorf("no layer %q", n.Op)
}

func (n *Node) inferDense(in Shape) error {
	if n.Attr.Units < 1 {
		return fmt.Errorf("units is %d, want 1 or more", n.Attr.Units)
	}
	if len(in) != 1 {
		return fmt.Errorf("gets %v, want a flat input: put flatten or global_avg_pool before it", in)
	}
	n.Out = Shape{n.Attr.Units}
	n.kernel([]int{in[0], n.Attr.Units}, in[0], n.Attr.Units)
	return nil
}

func (n *Node) inferConv(in Shape) error {
	if n.Attr.Units < 1 {
		return fmt.Errorf("filters is %d, want 1 or more", n.Attr.Units)
	}
	if err := n.inferWindow(in, n.Attr.Units); err != nil {
		return err
	}
	w, area := n.Attr.Window, product(n.Attr.Window[0], n.Attr.Window[1])
	n.kernel([]int{w[0], w[1], in[2], n.Attr.Units}, product(area, in[2]), product(area, n.Attr.Units))
	return nil
}

// kernel adds the variables kernel and, unless NoBias, bias.
func (n *Node) kernel(shape []int, fanIn, fanOut int) {
	n.Vars = []VarSpec{{
		Name: n.Name + "/kernel", Shape: shape, Init: n.Attr.Init, FanIn: fanIn, FanOut: fanOut, Decay: true,
	}}
	if !n.Attr.NoBias {
		n.Vars = append(n.Vars, VarSpec{Name: n.Name + "/bias", Shape: []int{n.Attr.Units}})
	}
}

func wantImage(in Shape) error {
	return fmt.Errorf("gets %v, want an image (height×width×channels): input.shape gives the shape where the file does not", in)
}

// inferWindow sets the output of a window that slides over an image.
func (n *Node) inferWindow(in Shape, channels int) error {
	if !in.IsImage() {
		return wantImage(in)
	}
	out := Shape{0, 0, channels}
	for i := range 2 {
		size, window, stride := in[i], n.Attr.Window[i], n.Attr.Stride[i]
		if window < 1 || stride < 1 {
			return fmt.Errorf("has a window of %v and strides of %v, want 1 or more", n.Attr.Window, n.Attr.Stride)
		}
		if stride > math.MaxInt32 || product(n.Attr.Window[0], n.Attr.Window[1]) > math.MaxInt32 {
			return fmt.Errorf("has a window of %v and strides of %v, want at most %d elements and strides, as TensorFlow takes",
				n.Attr.Window, n.Attr.Stride, math.MaxInt32)
		}
		if !n.Attr.Same && window > size {
			return fmt.Errorf("gets %v, which is smaller than its window of %d×%d: want a smaller one, or padding: same",
				in, n.Attr.Window[0], n.Attr.Window[1])
		}
		out[i] = places(size, window, stride, n.Attr.Same)
	}
	n.Out = out
	return nil
}

// places returns the number of window positions along size elements, as in TensorFlow:
// ⌈size/stride⌉ with padding, else ⌈(size−window+1)/stride⌉.
func places(size, window, stride int, same bool) int {
	if same {
		return (size-1)/stride + 1
	}
	return (size-window)/stride + 1
}

func (n *Node) inferLayerNorm(in Shape) error {
	if !(n.Attr.Epsilon > 0) || math.IsInf(float64(n.Attr.Epsilon), 0) {
		return fmt.Errorf("epsilon is %g, want a number above 0", n.Attr.Epsilon)
	}
	channels := in[len(in)-1]
	n.Out = in
	n.Vars = []VarSpec{
		{Name: n.Name + "/gamma", Shape: []int{channels}, Init: Ones},
		{Name: n.Name + "/beta", Shape: []int{channels}},
	}
	return nil
}

func (n *Node) inferAdd(in []Shape) error {
	if len(in) < 2 {
		return errors.New("has one input, want two or more: in: [a, b]")
	}
	for _, s := range in[1:] {
		if !slices.Equal(s, in[0]) {
			return fmt.Errorf("gets %v and %v, want equal shapes", in[0], s)
		}
	}
	n.Out = in[0]
	return nil
}

func (n *Node) inferConcat(in []Shape) error {
	if len(in) < 2 {
		return errors.New("has one input, want two or more: in: [a, b]")
	}
	out := slices.Clone(in[0])
	last := len(out) - 1
	for _, s := range in[1:] {
		if len(s) != len(out) || !slices.Equal(s[:last], out[:last]) {
			return fmt.Errorf("gets %v and %v, want shapes that differ in the last axis only", in[0], s)
		}
		out[last] = sum(out[last], s[last])
	}
	n.Out = out
	return nil
}
