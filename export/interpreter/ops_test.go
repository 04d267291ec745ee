package interpreter

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protojson"

	"ringtrain/export/tfpb"
)

// goldens are the files that testdata/make_ops.py writes, a room of operations each.
const goldens = "testdata/ops/*.json"

// golden is what TensorFlow answers for a small graph. The placeholders are x0, x1, …
type golden struct {
	Case  string
	Nodes []goldenNode
	In    []goldenTensor
	Fetch []string // n:0 if it is not there
	Init  string   // the node that runs before
	Out   []goldenTensor
	Error string
}

// goldenNode is a node without what goes without saying: the name n, the placeholders as inputs, and the
// word "type" of an attribute that is a type.
type goldenNode struct {
	Op, Name string
	Input    []string
	Attr     map[string]json.RawMessage
}

// goldenTensor is [type, shape, values]. NaN and infinity are words, and a byte of a string is a character.
type goldenTensor struct{ *Tensor }

func (g *goldenTensor) UnmarshalJSON(data []byte) error {
	var (
		typ    string
		shape  []int
		values []any
	)
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&[]any{&typ, &shape, &values}); err != nil {
		return err
	}
	t := &Tensor{Type: tfpb.DataType(tfpb.DataType_value["DT_"+strings.ToUpper(typ)]), Shape: shape}
	t.lane().resize(t, len(values))
	for i, v := range values {
		text := fmt.Sprint(v)
		var err error
		switch t.Type {
		case tfpb.DataType_DT_FLOAT:
			var x float64
			x, err = strconv.ParseFloat(text, 32)
			t.Float32[i] = float32(x)
		case tfpb.DataType_DT_DOUBLE:
			t.Float64[i], err = strconv.ParseFloat(text, 64)
		case tfpb.DataType_DT_INT32:
			var x int64
			x, err = strconv.ParseInt(text, 10, 32)
			t.Int32[i] = int32(x)
		case tfpb.DataType_DT_INT64:
			t.Int64[i], err = strconv.ParseInt(text, 10, 64)
		case tfpb.DataType_DT_BOOL:
			t.Bool[i] = v.(bool)
		case tfpb.DataType_DT_STRING:
			t.Bytes[i] = nil
			for _, r := range text {
				t.Bytes[i] = append(t.Bytes[i], byte(r))
			}
		default:
			err = fmt.Errorf("type %s", typ)
		}
		if err != nil {
			return err
		}
	}
	g.Tensor = t
	return nil
}

// readGoldens returns all cases.
func readGoldens(t testing.TB) []golden {
	t.Helper()
	names, err := filepath.Glob(goldens)
	if err != nil || len(names) == 0 {
		t.Fatalf("no file %s: %v", goldens, err)
	}
	var all []golden
	for _, name := range names {
		data, err := os.ReadFile(name)
		var cases []golden
		if err == nil {
			err = json.Unmarshal(data, &cases)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, cases...)
	}
	return all
}

// graph returns the nodes of a case, with its placeholders.
func (g *golden) graph() (*tfpb.GraphDef, error) {
	graph, inputs := &tfpb.GraphDef{}, make([]string, len(g.In))
	for i, x := range g.In {
		inputs[i] = fmt.Sprint("x", i)
		graph.Node = append(graph.Node, &tfpb.NodeDef{Name: inputs[i], Op: "Placeholder", Attr: map[string]*tfpb.AttrValue{
			"dtype": {Value: &tfpb.AttrValue_Type{Type: x.Type}},
		}})
	}
	for _, n := range g.Nodes {
		def := &tfpb.NodeDef{Op: n.Op, Name: cmp.Or(n.Name, "n"), Input: inputs, Attr: map[string]*tfpb.AttrValue{}}
		if n.Input != nil {
			def.Input = n.Input
		}
		for name, raw := range n.Attr {
			if raw[0] == '"' {
				raw = slices.Concat([]byte(`{"type":`), raw, []byte("}"))
			}
			v := &tfpb.AttrValue{}
			if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(raw, v); err != nil {
				return nil, fmt.Errorf("attribute %s: %w", name, err)
			}
			def.Attr[name] = v
		}
		graph.Node = append(graph.Node, def)
	}
	return graph, nil
}

// open returns the graph of a case as a model of one signature.
func (g *golden) open(folder string) (*Model, error) {
	graph, err := g.graph()
	if err != nil {
		return nil, err
	}
	def := &tfpb.SignatureDef{Inputs: map[string]*tfpb.TensorInfo{}, Outputs: map[string]*tfpb.TensorInfo{}}
	for i, x := range g.In {
		name := fmt.Sprint("x", i)
		def.Inputs[name] = info(name + ":0")
		def.Inputs[name].Dtype = x.Type
	}
	fetch := g.Fetch
	if fetch == nil {
		fetch = []string{"n:0"}
	}
	for i, name := range fetch {
		def.Outputs[fmt.Sprint(i)] = info(name)
	}
	meta := &tfpb.MetaGraphDef{GraphDef: graph, SignatureDef: map[string]*tfpb.SignatureDef{"case": def}}
	if g.Init != "" {
		meta.SignatureDef[initKey] = &tfpb.SignatureDef{Outputs: map[string]*tfpb.TensorInfo{initKey: info(g.Init)}}
	}
	return open(folder, meta, limits{constants: maxBytes, run: maxRunBytes})
}

func info(name string) *tfpb.TensorInfo {
	return &tfpb.TensorInfo{Name: name}
}

// TestOps verifies that each operation gives the outputs of TensorFlow, and an error where
// TensorFlow has one; that it gives them again in memory that an earlier run has used; and that it
// takes no memory then, unless it assigns.
func TestOps(t *testing.T) {
	folder := t.TempDir()
	for _, g := range readGoldens(t) {
		t.Run(g.Case, func(t *testing.T) {
			m, err := g.open(folder)
			var (
				p *Program
				r *running
			)
			if err == nil {
				defer m.Close()
				p, err = m.Compile("case", nil)
			}
			inputs := make([]*Tensor, len(g.In))
			for i, x := range g.In {
				inputs[i] = x.Tensor
			}
			if err == nil {
				r = p.newRun()
				_, err = r.run(inputs, nil)
			}
			if g.Error != "" || err != nil {
				if g.Error == "" || err == nil || strings.Contains(err.Error(), "the node is damaged") {
					t.Fatalf("error %v, TensorFlow has %q", err, g.Error)
				}
				return
			}
			check := func() {
				t.Helper()
				for i, s := range p.results {
					if err := same(r.tensor(s), g.Out[i].Tensor); err != nil {
						t.Errorf("output %d: %v", i, err)
					}
					if !sameZeros(r.tensor(s), g.Out[i].Tensor) && losesSign[g.Case] == "" {
						t.Errorf("output %d: a zero has another sign", i)
					}
				}
			}
			check()
			for i := range r.calls {
				for k := range r.calls[i].own {
					spoil(&r.calls[i].own[k])
				}
			}
			var again error
			n := testing.AllocsPerRun(1, func() { _, again = r.run(inputs, nil) })
			takes := slices.ContainsFunc(p.steps, func(s *node) bool { return s.op.assigns || takesMemory[s.op.name] != "" })
			if again != nil || n != 0 && !takes {
				t.Errorf("again: error %v, %v allocations, want none", again, n)
			}
			check()
		})
	}
}

// takesMemory are the operations that take memory in each run for some values, with the reason.
var takesMemory = map[string]string{
	"RegexReplace":       "package regexp does, where it finds a match",
	"StaticRegexReplace": "package regexp does, where it finds a match",
	"StringToNumber":     "package strconv does, for a number that is too large or longer than 32 bytes",
}

// losesSign are the cases in which -0 becomes 0, with the reason.
var losesSign = map[string]string{
	"Relu zeros": "the kernel, with which models are trained, does",
	"Tanh zeros": "the kernel, with which models are trained, does",
}

// sameZeros reports whether the zeros of two tensors have the same signs.
func sameZeros(x, y *Tensor) bool {
	return slices.EqualFunc(x.Float32, y.Float32, func(x, y float32) bool { return x != 0 || math.Float32bits(x) == math.Float32bits(y) || y != 0 }) &&
		slices.EqualFunc(x.Float64, y.Float64, func(x, y float64) bool { return x != 0 || math.Float64bits(x) == math.Float64bits(y) || y != 0 })
}

// spoil overwrites the values of a tensor.
func spoil(t *Tensor) {
	for i := range t.Float32 {
		t.Float32[i] = -77
	}
	for i := range t.Float64 {
		t.Float64[i] = -77
	}
	for i := range t.Int32 {
		t.Int32[i] = -77
	}
	for i := range t.Int64 {
		t.Int64[i] = -77
	}
	for i := range t.Bool {
		t.Bool[i] = !t.Bool[i]
	}
	for i := range t.Bytes {
		t.Bytes[i] = []byte("spoilt")
	}
}

// same compares a tensor with TensorFlow's.
func same(got, want *Tensor) error {
	if got.Type != want.Type || !slices.Equal(got.Shape, want.Shape) {
		return fmt.Errorf("%v of shape %v, want %v of shape %v", got.Type, got.Shape, want.Type, want.Shape)
	}
	near := func(x, y, bound float64) bool {
		return x == y || math.IsNaN(x) && math.IsNaN(y) || math.Abs(x-y) <= bound*max(1, math.Abs(y)) && !math.IsInf(y, 0)
	}
	ok := slices.Equal(got.Int32, want.Int32) && slices.Equal(got.Int64, want.Int64) && slices.Equal(got.Bool, want.Bool) &&
		slices.EqualFunc(got.Bytes, want.Bytes, bytes.Equal) &&
		slices.EqualFunc(got.Float32, want.Float32, func(x, y float32) bool { return near(float64(x), float64(y), 1e-6) }) &&
		slices.EqualFunc(got.Float64, want.Float64, func(x, y float64) bool { return near(x, y, 1e-12) })
	if !ok {
		return fmt.Errorf("%v, want %v", valuesOf(got), valuesOf(want))
	}
	return nil
}

func valuesOf(t *Tensor) any {
	switch t.Type {
	case tfpb.DataType_DT_FLOAT:
		return t.Float32
	case tfpb.DataType_DT_DOUBLE:
		return t.Float64
	case tfpb.DataType_DT_INT32:
		return t.Int32
	case tfpb.DataType_DT_INT64:
		return t.Int64
	case tfpb.DataType_DT_BOOL:
		return t.Bool
	}
	return fmt.Sprintf("%q", t.Bytes)
}

// few are the operations that have less than ten cases, with the reason.
var few = map[string]string{
	"Placeholder":            "an input of each case",
	"PlaceholderWithDefault": "hands its input on",
	"NoOp":                   "has no value",
	"RestoreV2":              "needs files; the fixtures have it",
}

// TestRefusedAttributes verifies that attributes that change an answer and are not known here are refused.
func TestRefusedAttributes(t *testing.T) {
	x := goldenTensor{&Tensor{Type: tfpb.DataType_DT_FLOAT, Shape: []int{1, 2}, Float32: []float32{1, 2}}}
	b := goldenTensor{&Tensor{Type: tfpb.DataType_DT_FLOAT, Shape: []int{2}, Float32: []float32{1, 2}}}
	attr := map[string]json.RawMessage{"data_format": json.RawMessage(`{"s":"TkNIVw=="}`)}
	g := golden{Nodes: []goldenNode{{Op: "BiasAdd", Attr: attr}}, In: []goldenTensor{x, b}}
	if _, err := g.open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "n (BiasAdd): data_format is NCHW, want NHWC") {
		t.Errorf("%v, want that the attribute is refused", err)
	}
}

// TestOpsHaveCases verifies that each operation has at least ten cases.
func TestOpsHaveCases(t *testing.T) {
	cases := map[string]int{}
	for _, g := range readGoldens(t) {
		graph, err := g.graph()
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range graph.GetNode() {
			cases[n.GetOp()]++
		}
	}
	for _, o := range operations() {
		if cases[o.name] < 10 && few[o.name] == "" {
			t.Errorf("%s has %d cases, want 10 or more (testdata/make_ops.py)", o.name, cases[o.name])
		}
	}
}
