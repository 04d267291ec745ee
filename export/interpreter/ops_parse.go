package interpreter

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"ringtrain/export/tfpb"
)

// parseOps returns the operations of this file.
func parseOps() []op {
	const sparse = "sparse_indices*num_sparse+sparse_values*num_sparse+sparse_shapes*num_sparse"
	return []op{
		parse("ParseExample", strings.ReplaceAll(sparse, "num_sparse", "Nsparse"), func(p *parser, _ *node) {
			p.keys = slices.Repeat([]int{1}, p.sparse+p.dense)
		}),
		parse("ParseExampleV2", sparse, func(p *parser, _ *node) { p.keys, p.single = []int{p.sparse, p.dense, p.ragged}, true }),
		parse("ParseSingleExample", sparse, func(p *parser, n *node) {
			keys := slices.Concat(n.attrs["sparse_keys"].GetList().GetS(), n.attrs["dense_keys"].GetList().GetS())
			p.index.Store(newKeyIndex(keys))
			p.first, p.single = 1, true
		}),
	}
}

// parse returns an operation that parses tf.Examples. The keys of features come to it as layout says.
func parse(name, sparse string, layout func(p *parser, n *node)) op {
	bind := func(n *node) (*parser, error) {
		p, err := newParser(n)
		if err != nil {
			return nil, err
		}
		p.first = 2 // examples, their names
		layout(p, n)
		if x := p.index.Load(); x != nil && len(x.keys) != len(p.features) {
			return nil, fmt.Errorf("%d keys of features, want %d", len(x.keys), len(p.features))
		}
		return p, nil
	}
	return op{
		name: name,
		out:  sparse + "+dense_values*Tdense+ragged_values*ragged_value_types+ragged_row_splits*ragged_value_types",
		bind: func(n *node) (any, error) { return bind(n) },
		features: func(n *node, in []*Tensor) ([]Feature, error) {
			p, err := bind(n)
			if err != nil {
				return nil, err
			}
			return p.described(in)
		},
		run: func(c *call) error { return c.bound.(*parser).run(c) },
	}
}

// parser is a node that parses tf.Examples.
//
// Inputs: examples; names and keys (not of ParseSingleExample, which has keys in attributes);
// defaults. Outputs: indices, values and shapes of sparse features; dense ones; values and splits of
// ragged ones.
type parser struct {
	sparse, dense, ragged int
	features              []asked // in this order
	single                bool    // it takes a scalar as one example, whose outputs have no dimension for examples
	first                 int     // input of keys
	keys                  []int   // the number of keys in each input of keys
	index                 atomic.Pointer[keyIndex]
}

// asked is a feature that a node asks for. Its name is in the key index, its default is an input.
type asked struct {
	Feature
	tag    byte // of the list in a Feature
	stride int  // values of an example; of a dense feature that varies, of an element of the first dimension
	out    int  // the output that has the values
	splits tfpb.DataType
	count  func(list []byte) int
	fill   func(p *parsing, k int)
}

// varies reports whether the feature is dense and its first dimension varies.
func (a *asked) varies() bool { return a.Kind == Dense && len(a.Shape) > 0 && a.Shape[0] < 0 }

// fixed reports whether each example has as many values.
func (a *asked) fixed() bool { return a.Kind == Dense && !a.varies() }

// reads sets how the lists of the feature are read.
func reads[T any](a *asked, tag byte, read func([]T, []byte) int, values func(t *Tensor) []T) {
	a.tag = tag
	a.count = func(list []byte) int { return read(nil, list) }
	a.fill = func(p *parsing, k int) {
		var def []T
		if t := p.fallback(k, p.call.in); t != nil {
			def = values(t)
		}
		fillFeature(p, k, values(p.call.out[a.out]), def, read)
	}
}

func newParser(n *node) (*parser, error) {
	list := func(name string) *tfpb.AttrValue_ListValue { return n.attrs[name].GetList() }
	sparse, dense, ragged := list("sparse_types").GetType(), list("Tdense").GetType(), list("ragged_value_types").GetType()
	shapes, splits := list("dense_shapes").GetShape(), list("ragged_split_types").GetType()
	p := &parser{sparse: len(sparse), dense: len(dense), ragged: len(ragged)}
	for name, want := range map[string]int{"Nsparse": p.sparse, "num_sparse": p.sparse, "Ndense": p.dense} {
		if got := n.integer(name, want); got != want {
			return nil, fmt.Errorf("%s is %d, want the number of types, %d", name, got, want)
		}
	}
	if len(shapes) != p.dense || len(splits) != p.ragged {
		return nil, fmt.Errorf("dense_shapes are %d and ragged_split_types %d, want %d and %d", len(shapes), len(splits), p.dense, p.ragged)
	}
	p.features = make([]asked, p.sparse+p.dense+p.ragged)
	for i, t := range slices.Concat(sparse, dense, ragged) {
		f := &p.features[i]
		f.Feature, f.stride = Feature{Type: t, Kind: Sparse, Shape: []int{-1}}, 1
		f.out = p.sparse + i
		if d := i - p.sparse; d >= 0 && d < p.dense {
			f.Kind, f.out = Dense, 3*p.sparse+d
			if err := f.setShape(shapes[d]); err != nil {
				return nil, fmt.Errorf("dense_shapes[%d]: %w", d, err)
			}
		} else if d >= p.dense {
			f.Kind, f.out, f.splits = Ragged, 2*p.sparse+i, splits[d-p.dense]
			if !slices.Contains(integers, f.splits) {
				return nil, fmt.Errorf("ragged_split_types has %v, want one of %v", f.splits, integers)
			}
		}
		switch t {
		case tfpb.DataType_DT_FLOAT:
			reads(f, tagSecond, readFloats, func(t *Tensor) []float32 { return t.Float32 })
		case tfpb.DataType_DT_INT64:
			reads(f, tagThird, readIntegers, func(t *Tensor) []int64 { return t.Int64 })
		case tfpb.DataType_DT_STRING:
			reads(f, tagFirst, readTexts, func(t *Tensor) [][]byte { return t.Bytes })
		default:
			return nil, fmt.Errorf("a feature has the type %v, want DT_FLOAT, DT_INT64 or DT_STRING", t)
		}
	}
	return p, nil
}

// setShape sets the shape of a dense feature, of which the first dimension may be -1.
func (a *asked) setShape(s *tfpb.TensorShapeProto) error {
	a.Shape = nil
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

// described returns the features with their names and defaults, nil if these are no constants.
func (p *parser) described(in []*Tensor) ([]Feature, error) {
	if slices.Contains(in[p.first:], nil) {
		return nil, nil
	}
	index, err := p.keyIndex(in)
	if err != nil {
		return nil, err
	}
	var all []Feature
	for i, a := range p.features {
		f := a.Feature
		f.Name = string(index.keys[i])
		if t := p.fallback(i, in); t != nil && Elements(t.Shape) > 0 {
			f.Default = t
		}
		all = append(all, f)
	}
	return all, nil
}

// fallback returns the input that has the default of a feature, nil of one that is not dense.
func (p *parser) fallback(feature int, in []*Tensor) *Tensor {
	if p.features[feature].Kind != Dense {
		return nil
	}
	return in[p.first+len(p.keys)+feature-p.sparse]
}

// check returns an error if the node does not have the inputs and outputs of the parser, or a default is
// not of its feature.
func (p *parser) check(c *call) error {
	inputs, outputs := p.first+len(p.keys)+p.dense, 3*p.sparse+p.dense+2*p.ragged
	if len(c.in) != inputs || len(c.out) != outputs {
		return fmt.Errorf("%d inputs and %d outputs, want %d and %d", len(c.in), len(c.out), inputs, outputs)
	}
	examples := c.in[0].Shape
	if !(len(examples) == 1 || len(examples) == 0 && p.single) {
		return fmt.Errorf("examples of shape %v, want a vector", examples)
	}
	if p.first > 1 {
		if names := len(c.in[1].Bytes); names != 0 && names != len(c.in[0].Bytes) {
			return fmt.Errorf("%d names of examples, want none or %d", names, len(c.in[0].Bytes))
		}
	}
	for i, f := range p.features {
		t := p.fallback(i, c.in)
		switch {
		case t == nil:
		case t.Type != f.Type:
			return fmt.Errorf("default %d is %v, want %v", i-p.sparse, t.Type, f.Type)
		case f.varies() && Elements(t.Shape) != 1:
			return fmt.Errorf("default %d has the shape %v, want one value, which fills the rows up", i-p.sparse, t.Shape)
		case f.fixed() && Elements(t.Shape) > 0 && !slices.Equal(t.Shape, f.Shape):
			return fmt.Errorf("default %d has the shape %v, want %v", i-p.sparse, t.Shape, f.Shape)
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
	x := p.index.Load()
	at, same := 0, x != nil
	for i, want := range p.keys {
		keys := in[p.first+i].Bytes
		if len(keys) != want {
			return nil, fmt.Errorf("input %d has %d keys, want %d", p.first+i, len(keys), want)
		}
		same = same && slices.EqualFunc(keys, x.keys[at:at+want], bytes.Equal)
		at += want
	}
	if !same {
		var keys [][]byte
		for i := range p.keys {
			keys = append(keys, in[p.first+i].Bytes...)
		}
		x = newKeyIndex(keys)
		p.index.Store(x)
	}
	return x, nil
}
