package interpreter

import (
	"slices"

	"ringtrain/export/tfpb"
)

// parseOps returns the operations that parse tf.Examples.
func parseOps() []op {
	var ops []op
	for _, name := range []string{"ParseExample", "ParseExampleV2", "ParseSingleExample"} {
		ops = append(ops, op{
			name: name, kinds: "sx+",
			out: "sparse_indices*sparse_types+sparse_values*sparse_types+sparse_shapes*sparse_types+dense_values*Tdense+" +
				"ragged_values*ragged_value_types+ragged_row_splits*ragged_value_types",
			bind: func(n *node) any { return newParser(n) },
			run:  func(c *call) { c.node.bound.(*parser).run(c) },
		})
	}
	return ops
}

// parser is a node that parses tf.Examples.
//
// Inputs: examples; names and keys (not of ParseSingleExample, which has keys in attributes); defaults. Outputs:
// indices, values and shapes of sparse features; dense ones; values and splits of ragged ones.
type parser struct {
	op                    string
	sparse, dense, ragged int
	features              []asked  // in this order
	keys                  [][]byte // of ParseSingleExample
	none                  Tensor
}

// asked is a feature that a node asks for. Its name is in the key index, its default is an input.
type asked struct {
	Feature
	tag    byte // of the list in a Feature
	stride int  // values of an example; of a dense feature that varies, of an element of the first dimension
	out    int  // the output that has the values
	splits tfpb.DataType
	set    func(p *parsing, k int) // sets the outputs of feature k, which this is
}

// varies reports whether the feature is dense and its first dimension varies.
func (a *asked) varies() bool { return a.Kind == Dense && len(a.Shape) > 0 && a.Shape[0] < 0 }

// fixed reports whether each example has as many values.
func (a *asked) fixed() bool { return a.Kind == Dense && !a.varies() }

func newParser(n *node) *parser {
	list := func(name string) *tfpb.AttrValue_ListValue { return n.attrs[name].GetList() }
	sparse, dense, ragged := list("sparse_types").GetType(), list("Tdense").GetType(), list("ragged_value_types").GetType()
	shapes, splits := list("dense_shapes").GetShape(), list("ragged_split_types").GetType()
	p := &parser{op: n.op.name, sparse: len(sparse), dense: len(dense), ragged: len(ragged)}
	if len(shapes) != p.dense || len(splits) != p.ragged {
		refuse("dense_shapes are %d and ragged_split_types %d, want %d and %d", len(shapes), len(splits), p.dense, p.ragged)
	}
	if n.op.name == "ParseSingleExample" {
		p.keys = slices.Concat(list("sparse_keys").GetS(), list("dense_keys").GetS())
	}
	for i, t := range slices.Concat(sparse, dense, ragged) {
		a, d := asked{Feature: Feature{Type: t, Kind: Sparse, Shape: []int{-1}}, stride: 1, out: p.sparse + i}, i-p.sparse
		switch {
		case d >= p.dense:
			a.Kind, a.out, a.splits = Ragged, 2*p.sparse+i, splits[d-p.dense]
		case d >= 0:
			a.Kind, a.out, a.Shape = Dense, 2*p.sparse+i, nil
			a.setShape(i, shapes[d])
		}
		switch t {
		case tfpb.DataType_DT_FLOAT:
			a.tag, a.set = tagSecond, setter(readFloats, float32Values)
		case tfpb.DataType_DT_INT64:
			a.tag, a.set = tagThird, setter(readIntegers, int64Values)
		case tfpb.DataType_DT_STRING:
			a.tag, a.set = tagFirst, setter(readTexts, textValues)
		default:
			refuse("feature %d of %v: want DT_FLOAT, DT_INT64 or DT_STRING", i, t)
		}
		p.features = append(p.features, a)
	}
	return p
}

// setShape sets the shape of a dense feature, of which the first dimension may be -1.
func (a *asked) setShape(feature int, s *tfpb.TensorShapeProto) {
	if s.GetUnknownRank() {
		refuse("feature %d: the rank is unknown", feature)
	}
	for i, d := range s.GetDim() {
		size := int(d.GetSize())
		a.Shape = append(a.Shape, size)
		if i == 0 && size == -1 {
			continue
		}
		if size < 0 || size == 0 && a.varies() || size > 0 && a.stride > maxBytes/size {
			refuse("feature %d: dimension %d is %d, want a known one", feature, i, size)
		}
		a.stride *= size
	}
}

// describe returns the features with their names and defaults, nil if these are no constants, of which in[i] is nil.
func (p *parser) describe(in []*Tensor) []Feature {
	if slices.Contains(in[1:], nil) {
		return nil
	}
	keys := p.appendKeys(nil, in)
	if len(keys) != len(p.features) {
		refuse("%d keys of features, want %d", len(keys), len(p.features))
	}
	all := make([]Feature, len(keys))
	for i, a := range p.features {
		all[i] = a.Feature
		all[i].Name = string(keys[i])
		if t := p.fallback(i, in); t.length() > 0 {
			all[i].Default = t
		}
	}
	return all
}

// appendKeys appends the keys of the features.
func (p *parser) appendKeys(dst [][]byte, in []*Tensor) [][]byte {
	if p.op == "ParseSingleExample" {
		return append(dst, p.keys...)
	}
	for _, t := range in[2 : len(in)-p.dense] {
		dst = append(dst, t.Bytes...)
	}
	return dst
}

// fallback returns the default of a feature, an empty tensor of one that is not dense.
func (p *parser) fallback(feature int, in []*Tensor) *Tensor {
	if p.features[feature].Kind != Dense {
		return &p.none
	}
	return in[len(in)-p.dense+feature-p.sparse]
}
