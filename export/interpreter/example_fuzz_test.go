package interpreter

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/tfpb"
)

// kindsParser returns a call of ParseExampleV2 for a list x of floats, integers n of any number, and ragged texts t.
func kindsParser(t testing.TB) *call {
	t.Helper()
	types := func(types ...tfpb.DataType) *tfpb.AttrValue {
		return &tfpb.AttrValue{Value: &tfpb.AttrValue_List{List: &tfpb.AttrValue_ListValue{Type: types}}}
	}
	varies := &tfpb.AttrValue_ListValue{Shape: []*tfpb.TensorShapeProto{{Dim: []*tfpb.TensorShapeProto_Dim{{Size: -1}}}}}
	o := parseOps()[1]
	n := &node{op: &o, attrs: map[string]*tfpb.AttrValue{
		"sparse_types": types(tfpb.DataType_DT_FLOAT), "Tdense": types(tfpb.DataType_DT_INT64), "dense_shapes": {Value: &tfpb.AttrValue_List{List: varies}},
		"ragged_value_types": types(tfpb.DataType_DT_STRING), "ragged_split_types": types(tfpb.DataType_DT_INT64),
	}}
	n.bound = o.bind(n)
	pad := &Tensor{Type: tfpb.DataType_DT_INT64, Int64: []int64{-1}}
	c := &call{node: n, in: []*Tensor{nil, textTensor(), textTensor("x"), textTensor("n"), textTensor("t"), pad}, own: make([]Tensor, 6)}
	c.frame = &frame{store: &store{most: limits{run: maxRunBytes}}, engine: newEngine()}
	for range c.own {
		c.out = append(c.out, &Tensor{})
	}
	return c
}

// FuzzParseExample verifies that no bytes make the parser of tf.Examples panic, and that it reads from the message that
// they are, as protobuf writes it, what protobuf reads.
func FuzzParseExample(f *testing.F) {
	for _, g := range readGoldens(f) {
		if len(g.Nodes) == 1 && g.Nodes[0].Op == "ParseExampleV2" && len(g.In[0].Bytes) > 0 {
			f.Add(bytes.ReplaceAll(g.In[0].Bytes[0], []byte("\x01t"), []byte("\x01x")))
			f.Add(g.In[0].Bytes[0])
		}
	}
	c := kindsParser(f)
	parse := func(data []byte) error {
		c.frame.bytes = 0
		c.in[0] = &Tensor{Type: tfpb.DataType_DT_STRING, Shape: []int{1}, Bytes: [][]byte{data}}
		return parsed(c)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := parse(data); err != nil && c.frame.bytes > 1000*(1+len(data)) {
			t.Fatalf("%d bytes for an example of %d: %v", c.frame.bytes, len(data), err)
		}
		var m tfpb.Example
		if (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(data, &m) != nil {
			return
		}
		written, err := proto.MarshalOptions{Deterministic: true}.Marshal(&tfpb.Example{Features: m.GetFeatures()})
		if err != nil {
			return // protobuf reads a key that it does not write
		}
		all := m.GetFeatures().GetFeature()
		x, n, text := all["x"], all["n"], all["t"]
		fits := (x.GetKind() == nil || x.GetFloatList() != nil) && (n.GetKind() == nil || n.GetInt64List() != nil) && (text.GetKind() == nil || text.GetBytesList() != nil)
		if err := parse(written); (err == nil) != fits {
			t.Fatalf("error %v of %v", err, &m)
		}
		same := func(got, want float32) bool {
			return math.Float32bits(got) == math.Float32bits(want) || got == 0 && -0x1p-126 < want && want < 0x1p-126
		}
		if fits && (!slices.EqualFunc(c.out[1].Float32, x.GetFloatList().GetValue(), same) || !slices.Equal(c.out[3].Int64, n.GetInt64List().GetValue()) ||
			!slices.EqualFunc(c.out[4].Bytes, text.GetBytesList().GetValue(), bytes.Equal)) {
			t.Fatalf("%v, %v, %q of %v", c.out[1].Float32, c.out[3].Int64, c.out[4].Bytes, &m)
		}
	})
}

// TestParseDenormal verifies that a denormal number of an example is 0.
func TestParseDenormal(t *testing.T) {
	c := kindsParser(t)
	example, err := proto.Marshal(&tfpb.Example{Features: &tfpb.Features{Feature: map[string]*tfpb.Feature{
		"x": {Kind: &tfpb.Feature_FloatList{FloatList: &tfpb.FloatList{Value: []float32{1e-40, -1e-40, 0x1p-126}}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	c.in[0] = textTensor(string(example))
	if err := parsed(c); err != nil || !slices.Equal(c.out[1].Float32, []float32{0, 0, 0x1p-126}) {
		t.Errorf("%v, %v, want 0, 0 and the least normal number", c.out[1].Float32, err)
	}
}
