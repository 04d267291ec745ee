package interpreter

import "ringtrain/model/kernel"

// fused is what a product or a convolution does to its result before it writes it.
type fused struct {
	bias []float32 // nil: nothing is added
	act  kernel.Activation
}

// fuse lets the step before v do what v does, and reports whether it can: a constant bias for each
// column, and then Relu. Both change no bit. Nothing else may use the output of that step.
func (c *compiler) fuse(v *vertex, s *step) bool {
	if len(s.in) == 0 || s.in[0].constant != nil || s.in[0].step < 0 || v.in[0].uses != 1 {
		return false
	}
	into := &c.program.steps[s.in[0].step]
	columns := into.columns()
	switch s.op.name {
	case "Relu":
		if columns == 0 {
			return false
		}
		into.fused.act = kernel.ReLU
		return true
	case "BiasAdd", "Add", "AddV2":
		if columns == 0 || len(s.in) != 2 || into.fused.bias != nil || into.fused.act != kernel.None {
			return false
		}
		bias := s.in[1].constant
		if bias == nil || len(bias.Shape) != 1 || len(bias.Float32) != columns {
			return false
		}
		into.fused.bias = bias.Float32
		return true
	}
	return false
}

// columns returns the number of columns of the result of a product or a convolution that can be fused: of
// float32, with constant weights. It is 0 for any other step.
func (s *step) columns() int {
	if s.op.name != "MatMul" && s.op.name != "Conv2D" || len(s.in) != 2 || s.node.boolean("transpose_a", false) || s.node.boolean("transpose_b", false) {
		return 0
	}
	weights := s.in[1].constant
	if weights == nil || len(weights.Float32) == 0 || len(weights.Shape) < 2 {
		return 0
	}
	return weights.Shape[len(weights.Shape)-1]
}
