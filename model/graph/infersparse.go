package graph

import (
	"cmp"
	"fmt"
)

func (n *Node) inferSparse(ids []Shape) error {
	n.Out = Shape{n.Attr.Units}
	n.Vars = []VarSpec{
		{Name: n.Name + "/weights", Shape: []int{ids[0].Len(), n.Attr.Units}, Init: cmp.Or(n.Attr.Init, Zeros), ByRows: true, Decay: true},
		{Name: n.Name + "/bias", Shape: []int{n.Attr.Units}, Init: Zeros},
	}
	return nil
}

func (n *Node) inferEmbedding(ids []Shape) error {
	n.Out = Shape{product(n.Attr.Fields, n.Attr.Size)}
	n.Vars = []VarSpec{{
		Name: n.Name + "/embeddings", Shape: []int{ids[0].Len(), n.Attr.Size}, Init: Small, ByRows: true, Decay: true,
	}}
	return nil
}

// inferFM sets one output per part: units equal parts of an embedding's row.
func (n *Node) inferFM([]Shape) error {
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
