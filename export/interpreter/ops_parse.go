package interpreter

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"ringtrain/export/tfpb"
)

// parseOps returns the operations that parse tf.Examples.
func parseOps() []op {
	var ops []op
	for _, name := range []string{"ParseExample", "ParseExampleV2", "ParseSingleExample"} {
		ops = append(ops, op{
			name: name,
			out: "sparse_indices*sparse_types+sparse_values*sparse_types+sparse_shapes*sparse_types+dense_values*Tdense+" +
				"ragged_values*ragged_value_types+ragged_row_splits*ragged_value_types",
			bind:     func(n *node) (any, error) { return newParser(n) },
			features: describeFeatures,
			run:      func(c *call) error { return c.bound.(*parser).run(c) },
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
	features              []asked // in this order
	index                 atomic.Pointer[keyIndex]
	none                  Tensor
}

// asked is a feature that a node asks for. Its name is in the key index, its default is an input.
type asked struct {
	Feature
	tag    byte // of the list in a Feature
	stride int  // values of an example; of a dense feature that varies, of an element of the first dimension
	out    int  // the output that has the values
	splits tfpb.DataType
	set    func(p *parsing, k int) error // sets the outputs of feature k, which this is
}

// varies reports whether the feature is dense and its first dimension varies.
func (a *asked) varies() bool { return a.Kind == Dense && len(a.Shape) > 0 && a.Shape[0] < 0 }

func newParser(n *node) (*parser, error) {
	list := func(name string) *tfpb.AttrValue_ListValue { return n.attrs[name].GetList() }
	sparse, dense, ragged := list("sparse_types").GetType(), list("Tdense").GetType(), list("ragged_value_types").GetType()
	shapes, splits := list("dense_shapes").GetShape(), list("ragged_split_types").GetType()
	p := &parser{op: n.op, sparse: len(sparse), dense: len(dense), ragged: len(ragged)}
	if len(shapes) != p.dense || len(splits) != p.ragged {
		return nil, fmt.Errorf("dense_shapes are %d and ragged_split_types %d, want %d and %d", len(shapes), len(splits), p.dense, p.ragged)
	}
	if n.op == "ParseSingleExample" {
		p.index.Store(newKeyIndex(slices.Concat(list("sparse_keys").GetS(), list("dense_keys").GetS())))
	}
	for i, t := range slices.Concat(sparse, dense, ragged) {
		a, d := asked{Feature: Feature{Type: t, Kind: Sparse, Shape: []int{-1}}, stride: 1, out: p.sparse + i}, i-p.sparse
		var err error
		switch {
		case d >= p.dense:
			a.Kind, a.out, a.splits = Ragged, 2*p.sparse+i, splits[d-p.dense]
		case d >= 0:
			a.Kind, a.out, a.Shape = Dense, 2*p.sparse+i, nil
			err = a.setShape(shapes[d])
		}
		switch t {
		case tfpb.DataType_DT_FLOAT:
			a.tag, a.set = tagSecond, setter(readFloats, func(t *Tensor) []float32 { return t.Float32 })
		case tfpb.DataType_DT_INT64:
			a.tag, a.set = tagThird, setter(readIntegers, func(t *Tensor) []int64 { return t.Int64 })
		case tfpb.DataType_DT_STRING:
			a.tag, a.set = tagFirst, setter(readTexts, func(t *Tensor) [][]byte { return t.Bytes })
		default:
			err = errors.New("want DT_FLOAT, DT_INT64 or DT_STRING")
		}
		if err != nil {
			return nil, fmt.Errorf("feature %d of %v: %w", i, t, err)
		}
		p.features = append(p.features, a)
	}
	return p, nil
}

// setShape sets the shape of a dense feature, of which the first dimension may be -1.
func (a *asked) setShape(s *tfpb.TensorShapeProto) error {
	for i, d := range s.GetDim() {
		size := int(d.GetSize())
		a.Shape = append(a.Shape, size)
		if i == 0 && size == -1 {
			continue
		}
		if size < 0 || size == 0 && a.varies() || size > 0 && a.stride > maxBytes/size {
			return fmt.Errorf("dimension %d is %d, want a known one", i, size)
		}
		a.stride *= size
	}
	if s.GetUnknownRank() {
		return errors.New("the rank is unknown")
	}
	return nil
}

// describeFeatures returns the features with their names and defaults, nil if these are no constants.
func describeFeatures(n *node, in []*Tensor) ([]Feature, error) {
	p, err := newParser(n)
	if err != nil || slices.Contains(in[1:], nil) {
		return nil, err
	}
	index, err := p.keyIndex(in)
	if err != nil {
		return nil, err
	}
	all := make([]Feature, len(p.features))
	for i, a := range p.features {
		all[i] = a.Feature
		all[i].Name = string(index.keys[i])
		if t := p.fallback(i, in); t.length() > 0 {
			all[i].Default = t
		}
	}
	return all, nil
}

// fallback returns the default of a feature, an empty tensor of one that is not dense.
func (p *parser) fallback(feature int, in []*Tensor) *Tensor {
	if p.features[feature].Kind != Dense {
		return &p.none
	}
	return in[len(in)-p.dense+feature-p.sparse]
}

// check returns an error if the examples have not the shape that the operation takes, or a default not that of its feature.
func (p *parser) check(in []*Tensor) error {
	examples := in[0]
	rank, single := len(examples.Shape), p.op == "ParseSingleExample"
	if examples.Type != tfpb.DataType_DT_STRING || rank > 1 || single && rank == 1 || p.op == "ParseExample" && rank == 0 {
		return fmt.Errorf("examples are %v of shape %v, want DT_STRING and a vector, or a scalar where the operation takes one", examples.Type, examples.Shape)
	}
	if !single && in[1].length() != 0 && in[1].length() != examples.length() {
		return fmt.Errorf("%d names of examples, want none or %d", in[1].length(), examples.length())
	}
	for i, f := range p.features {
		t := p.fallback(i, in)
		n := t.length()
		if f.Kind == Dense && (t.Type != f.Type || f.varies() && n != 1 || !f.varies() && n != 0 && !slices.Equal(t.Shape, f.Shape)) {
			return fmt.Errorf("default %d is %v of shape %v, want %v and the shape of the feature", i-p.sparse, t.Type, t.Shape, f.Type)
		}
	}
	return nil
}

// keyIndex finds features by their keys. It does not change.
type keyIndex struct {
	keys   [][]byte
	places map[string]int // as TensorFlow's, it is empty if a key is asked for twice: all features are missing then
}

func newKeyIndex(keys [][]byte) *keyIndex {
	x := &keyIndex{places: map[string]int{}}
	for i, key := range keys {
		x.keys = append(x.keys, bytes.Clone(key))
		x.places[string(key)] = i
	}
	if len(x.places) < len(keys) {
		clear(x.places)
	}
	return x
}

// keyIndex returns the index of the keys in the inputs, which is that of the run before unless they have changed.
func (p *parser) keyIndex(in []*Tensor) (*keyIndex, error) {
	x, n := p.index.Load(), 0
	if p.op != "ParseSingleExample" {
		inputs, same := in[2:len(in)-p.dense], x != nil
		for _, t := range inputs {
			for _, key := range t.Bytes {
				same = same && n < len(x.keys) && bytes.Equal(key, x.keys[n])
				n++
			}
		}
		if !same || n != len(x.keys) {
			var keys [][]byte
			for _, t := range inputs {
				keys = append(keys, t.Bytes...)
			}
			x = newKeyIndex(keys)
			p.index.Store(x)
		}
	}
	if len(x.keys) != len(p.features) {
		return nil, fmt.Errorf("%d keys of features, want %d", len(x.keys), len(p.features))
	}
	return x, nil
}
