package interpreter

import (
	"fmt"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/tfpb"
	"ringtrain/model/kernel"
)

// textTensor returns a vector of texts.
func textTensor(texts ...string) *Tensor {
	t := &Tensor{Type: tfpb.DataType_DT_STRING, Shape: []int{len(texts)}}
	for _, s := range texts {
		t.Bytes = append(t.Bytes, []byte(s))
	}
	return t
}

// textScalar returns one text.
func textScalar(text string) *Tensor {
	t := textTensor(text)
	t.Shape = nil
	return t
}

// clicks returns tf.Examples of 13 numbers and 26 texts.
func clicks(t testing.TB, n int) *Tensor {
	t.Helper()
	all := textTensor()
	for k := range n {
		features := map[string]*tfpb.Feature{}
		for i := range 13 {
			features[clickColumn(i)] = &tfpb.Feature{Kind: &tfpb.Feature_FloatList{FloatList: &tfpb.FloatList{Value: []float32{float32(k*100 + i)}}}}
		}
		for i := 13; i < 39; i++ {
			text := fmt.Appendf(nil, "%08x", k*i*7919)
			features[clickColumn(i)] = &tfpb.Feature{Kind: &tfpb.Feature_BytesList{BytesList: &tfpb.BytesList{Value: [][]byte{text}}}}
		}
		example, err := proto.Marshal(&tfpb.Example{Features: &tfpb.Features{Feature: features}})
		if err != nil {
			t.Fatal(err)
		}
		all.Bytes = append(all.Bytes, example)
	}
	all.Shape = []int{n}
	return all
}

func clickColumn(i int) string {
	if i < 13 {
		return fmt.Sprintf("I%d", i+1)
	}
	return fmt.Sprintf("C%d", i-12)
}

// clickParser returns a call of ParseExample for n of the examples of clicks.
func clickParser(t testing.TB, n int) *call {
	t.Helper()
	list := &tfpb.AttrValue_ListValue{}
	in := []*Tensor{clicks(t, n), textTensor()}
	for i := range 39 {
		in = append(in, textScalar(clickColumn(i)))
	}
	for i := range 39 {
		typ, def := tfpb.DataType_DT_STRING, textScalar("")
		if i < 13 {
			typ, def = tfpb.DataType_DT_FLOAT, &Tensor{Type: tfpb.DataType_DT_FLOAT, Float32: []float32{0}}
		}
		list.Type, list.Shape, in = append(list.Type, typ), append(list.Shape, &tfpb.TensorShapeProto{}), append(in, def)
	}
	attr := &tfpb.AttrValue{Value: &tfpb.AttrValue_List{List: list}}
	o := parseOps()[0]
	n0 := &node{op: &o, attrs: map[string]*tfpb.AttrValue{"Tdense": attr, "dense_shapes": attr}}
	n0.bound = o.bind(n0)
	c := &call{node: n0, in: in, frame: &frame{store: &store{most: limits{run: maxRunBytes}}, engine: newEngine()}, own: make([]Tensor, 39)}
	for range c.own {
		c.out = append(c.out, &Tensor{})
	}
	return c
}

// parsed runs a call. Its refusal is the error; another panic goes on.
func parsed(c *call) error {
	broken, err := guarded(func() { c.node.op.run(c) })
	if broken {
		panic(err)
	}
	return err
}

// TestParseClicks verifies the values that ParseExample reads, and that a second parse of as many examples
// allocates nothing.
func TestParseClicks(t *testing.T) {
	c := clickParser(t, 40)
	parse := func() {
		c.frame.bytes = 0
		if err := parsed(c); err != nil {
			t.Fatal(err)
		}
	}
	if allocs := testing.AllocsPerRun(10, parse); allocs > 0 {
		t.Errorf("%v allocations, want none", allocs)
	}
	for k := range 40 {
		if got, want := c.out[3].Float32[k], float32(k*100+3); got != want {
			t.Errorf("number 3 of example %d is %v, want %v", k, got, want)
		}
		if got, want := string(c.out[20].Bytes[k]), fmt.Sprintf("%08x", k*20*7919); got != want {
			t.Errorf("text 20 of example %d is %s, want %s", k, got, want)
		}
	}
}

// TestParseOtherList verifies that an example with a list of another kind is refused by the names of both.
func TestParseOtherList(t *testing.T) {
	for _, tt := range []struct{ list, want string }{
		{"\x1a\x03\x0a\x01\x07", "feature I1: example 0: it has a list of the kind int64_list, want float_list"},
		{"\x0a\x03\x0a\x01x", "feature I1: example 0: it has a list of the kind bytes_list, want float_list"},
		{"\x12\x09\x0a\x01\x07", "example 0: a malformed list"},
	} {
		entry := "\x0a\x02I1\x12" + string(rune(len(tt.list))) + tt.list
		features := "\x0a" + string(rune(len(entry))) + entry
		c := clickParser(t, 1)
		c.in[0] = textTensor("\x0a" + string(rune(len(features))) + features)
		if err := parsed(c); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: error %v, want %q", tt.list, err, tt.want)
		}
	}
}

// BenchmarkParseExample measures the parser on the examples of a deepfm.
func BenchmarkParseExample(b *testing.B) {
	for _, n := range []int{1, 256} {
		b.Run(fmt.Sprintf("examples=%d", n), func(b *testing.B) {
			c := clickParser(b, n)
			b.ReportAllocs()
			for b.Loop() {
				c.frame.bytes = 0
				if err := parsed(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestParseThreads verifies that two threads find the features of all examples, and name the first that is none.
func TestParseThreads(t *testing.T) {
	c := clickParser(t, 200)
	sets := kernel.Sets()
	c.frame.engine = kernel.New(sets[len(sets)-1], 2)
	defer c.frame.engine.Close()
	if err := parsed(c); err != nil || c.out[3].Float32[199] != 199*100+3 {
		t.Errorf("%v: number 3 of example 199 is %v", err, c.out[3].Float32[199])
	}
	for _, i := range []int{170, 60, 130} {
		c.in[0].Bytes[i] = []byte("none")
	}
	if err := parsed(c); err == nil || err.Error() != "example 60 is no tf.Example" {
		t.Errorf("error %v, want that of example 60", err)
	}
}
