package graph

import (
	"fmt"
	"slices"
)

func (n *Node) inferSparse(ids Shape) error {
	if n.Attr.Units < 1 {
		return fmt.Errorf("units is %d, want 1 or more", n.Attr.Units)
	}
	n.Out = Shape{n.Attr.Units}
	n.Vars = []VarSpec{
		{Name: n.Name + "/weights", Shape: []int{ids.Len(), n.Attr.Units}, ByRows: true, Decay: true},
		{Name: n.Name + "/bias", Shape: []int{n.Attr.Units}},
	}
	return nil
}

func (n *Node) inferEmbedding(ids Shape) error {
	if n.Attr.Size < 1 {
		return fmt.Errorf("size is %d, want 1 or more", n.Attr.Size)
	}
	if n.Attr.Pooling == "" {
		n.Attr.Pooling = Poolings[0]
	}
	if !slices.Contains(Poolings, n.Attr.Pooling) {
		return fmt.Errorf("pooling is %q, want one of %v", n.Attr.Pooling, Poolings)
	}
	n.Out = Shape{product(n.Attr.Fields, n.Attr.Size)}
	n.Vars = []VarSpec{{
		Name: n.Name + "/embeddings", Shape: []int{ids.Len(), n.Attr.Size}, Init: Small, ByRows: true, Decay: true,
	}}
	return nil
}

// inferFM sets one output per part: units equal parts of an embedding's row.
func (n *Node) inferFM() error {
	if n.Attr.Units < 1 {
		return fmt.Errorf("units is %d, want 1 or more", n.Attr.Units)
	}
	if n.Attr.Size%n.Attr.Units != 0 {
		return fmt.Errorf("units is %d, want a divisor of the embedding's size %d: each output has as many of its elements", n.Attr.Units, n.Attr.Size)
	}
	n.Out = Shape{n.Attr.Units}
	return nil
}

func (n *Node) inferCross(in []Shape) error {
	if len(in) != 1 && len(in) != 2 {
		return fmt.Errorf("has %d inputs, want one, or the first features and the layer before: in: [a, b]", len(in))
	}
	for _, s := range in {
		if len(s) != 1 {
			return fmt.Errorf("gets %v, want a flat input: put flatten or global_avg_pool before it", s)
		}
		if s[0] != in[0][0] {
			return fmt.Errorf("gets %v and %v, want inputs of equal sizes", in[0], s)
		}
	}
	n.Out = in[0]
	n.Attr.Units = in[0][0]
	n.kernel([]int{in[0][0], in[0][0]}, in[0][0], in[0][0])
	return nil
}
