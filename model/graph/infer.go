package graph

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

func (n *Node) inferGlobalPool(in []Shape) error {
	if !in[0].IsImage() {
		return wantImage(in[0])
	}
	n.Out = Shape{in[0][2]}
	return nil
}

func (n *Node) inferFlatten(in []Shape) error {
	n.Out = Shape{in[0].Len()}
	return nil
}

func (n *Node) inferPool(in []Shape) error {
	return n.inferWindow(in[0], in[0][len(in[0])-1])
}

func (n *Node) inferDense(from []Shape) error {
	in := from[0]
	if len(in) != 1 {
		return fmt.Errorf("gets %v, want a flat input: put flatten or global_avg_pool before it", in)
	}
	n.Out = Shape{n.Attr.Units}
	n.kernel([]int{in[0], n.Attr.Units}, in[0], n.Attr.Units)
	return nil
}

func (n *Node) inferConv(from []Shape) error {
	in := from[0]
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
		n.Vars = append(n.Vars, VarSpec{Name: n.Name + "/bias", Shape: []int{n.Attr.Units}, Init: Zeros})
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

func (n *Node) inferLayerNorm(in []Shape) error {
	n.Out = in[0]
	channels := n.Out[len(n.Out)-1]
	n.Vars = []VarSpec{
		{Name: n.Name + "/gamma", Shape: []int{channels}, Init: Ones},
		{Name: n.Name + "/beta", Shape: []int{channels}, Init: Zeros},
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
