package graph

// FLOPs returns the floating-point operations of n's forward pass over one example: two
// per multiply-add, one per other operation on an element. in has the shapes of its
// inputs. Layers of ids count one id per field. The number is for information, not for
// schedules.
func (n *Node) FLOPs(in []Shape) int {
	out := n.Out.Len()
	switch n.Op {
	case OpDense, OpConv2D:
		perOutput := product(2, n.Vars[0].FanIn)
		if !n.Attr.NoBias {
			perOutput = sum(perOutput, 1)
		}
		return product(out, perOutput)
	case OpSparse:
		return product(out, sum(1, product(2, n.Attr.Fields)))
	case OpEmbedding:
		return product(2, out)
	case OpFM: // product, square and two sums for each id; square, difference and sum for each column
		return product(n.Attr.Size, sum(3, product(4, n.Attr.Fields)))
	case OpCross:
		return product(out, sum(3, product(2, n.Vars[0].FanIn)))
	case OpMaxPool2D, OpAvgPool2D:
		return product(out, product(n.Attr.Window[0], n.Attr.Window[1]))
	case OpGlobalAvgPool:
		return in[0].Len()
	case OpFlatten, OpConcat:
		return 0
	case OpLayerNorm:
		return product(8, out)
	case OpAdd:
		return product(len(in)-1, out)
	}
	return out
}
