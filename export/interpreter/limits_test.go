package interpreter

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"

	"ringtrain/export/tfpb"
)

// defined returns a function f of an argument a, with nodes in text form and the tensor that it returns.
func defined(t *testing.T, name, nodes, result string) *tfpb.FunctionDefLibrary_FunctionDef {
	t.Helper()
	f := &tfpb.FunctionDefLibrary_FunctionDef{}
	text := fmt.Sprintf(`signature { name: %q input_arg { name: "a" } output_arg { name: "r" } } %s ret { key: "r" value: %q }`, name, nodes, result)
	if err := prototext.Unmarshal([]byte(text), f); err != nil {
		t.Fatal(err)
	}
	return f
}

// callOf returns a node in text form that calls a function.
func callOf(name, function string, inputs ...string) string {
	return fmt.Sprintf("{ name: %q op: \"PartitionedCall\" %s attr { key: \"f\" value { func { name: %q } } } }",
		name, strings.Join(prefixed("input: ", inputs), " "), function)
}

func prefixed(prefix string, all []string) []string {
	var out []string
	for _, s := range all {
		out = append(out, prefix+fmt.Sprintf("%q", s))
	}
	return out
}

// withCall returns a change of the model small: its output x is that of a call of f with the input x.
func withCall(t *testing.T, functions ...*tfpb.FunctionDefLibrary_FunctionDef) func(m *tfpb.MetaGraphDef) {
	return func(m *tfpb.MetaGraphDef) {
		n := &tfpb.NodeDef{}
		text := callOf("call", "f", "x")
		if err := prototext.Unmarshal([]byte(text[1:len(text)-1]), n); err != nil {
			t.Fatal(err)
		}
		m.GraphDef.Node = append(m.GraphDef.Node, n)
		m.GraphDef.Library = &tfpb.FunctionDefLibrary{Function: functions}
		nodeOf(m, "y").Input[0] = "call"
	}
}

// TestFunctions verifies that calls within calls are inlined, that a function may return its argument, and
// that an output is found by its port.
func TestFunctions(t *testing.T) {
	inner := defined(t, "g", `node_def { name: "top" op: "TopKV2" input: "a" input: "k:output:0" }
		node_def { name: "k" op: "Const" attr { key: "value" value { tensor { dtype: DT_INT32 tensor_shape {} int_val: 1 } } } }`, "top:values:0")
	same := defined(t, "same", "", "a")
	outer := defined(t, "f", "node_def "+callOf("in", "same", "a")+" node_def "+callOf("top", "g", "in:output:0"), "top:output:0")
	m, err := Open(write(t, withCall(t, outer, inner, same)))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	x := &Tensor{Type: tfpb.DataType_DT_FLOAT, Shape: []int{3}, Float32: []float32{7, 9, 8}}
	if got := run(t, m, "serving_default", x)[2].Float32; len(got) != 1 || got[0] != 9 {
		t.Errorf("x is %v, want 9", got)
	}
}

// TestWholeCalls verifies that all results of a call are reached for its effects, also after one of them was taken.
func TestWholeCalls(t *testing.T) {
	f := defined(t, "f", `node_def { name: "other" op: "Other" }`, "a")
	f.Signature.OutputArg = append(f.Signature.OutputArg, &tfpb.OpDef_ArgDef{Name: "second"})
	f.Ret["second"] = "other:output:0"
	_, err := Open(write(t, func(m *tfpb.MetaGraphDef) {
		withCall(t, f)(m)
		m.GraphDef.Node = append(m.GraphDef.Node, &tfpb.NodeDef{Name: "after", Op: "Identity", Input: []string{"call", "^call"}})
		nodeOf(m, "y").Input[0] = "call"
		nodeOf(m, "y").Input[1] = "after"
	}))
	if err == nil || !strings.Contains(err.Error(), "ops not known here: Other (call/other)") {
		t.Errorf("%v, want the second result refused", err)
	}
}

// TestUnknownOps verifies that the refusal of many operations counts them, and tells the last parts of their nodes.
func TestUnknownOps(t *testing.T) {
	l := &library{unknown: map[string]string{"AddN": "linear/linear/sum/AddN", "Unique": "linear/Unique", "Range": "Range", "Select": "a/b/c"}}
	_, err := guarded(l.refuse)
	if want := "4 ops not known here: AddN (…/sum/AddN), Range (Range), Select (…/b/c), Unique (linear/Unique)"; err == nil || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

// TestGraphLimits verifies that graphs that would take too much time or memory are refused before they do.
func TestGraphLimits(t *testing.T) {
	var doubling []*tfpb.FunctionDefLibrary_FunctionDef
	for i := range 40 {
		next := fmt.Sprint("f", i+1)
		name := strings.TrimSuffix(fmt.Sprint("f", i), "0")
		if i > 0 {
			name = fmt.Sprint("f", i)
		}
		doubling = append(doubling, defined(t, name, "node_def "+callOf("p", next, "a")+" node_def "+callOf("q", next, "p:output:0"), "q:output:0"))
	}
	doubling = append(doubling, defined(t, "f40", "", "a"))
	for name, c := range map[string]struct {
		change func(m *tfpb.MetaGraphDef)
		want   string
	}{
		"graph=recursion": {withCall(t, defined(t, "f", "node_def "+callOf("again", "f", "a"), "again:output:0")),
			"more than 64 calls within each other"},
		"graph=2^40 calls": {withCall(t, doubling...), "more than 131072 nodes"},
		"graph=call of its own result": {func(m *tfpb.MetaGraphDef) {
			withCall(t, defined(t, "f", "", "a"))(m)
			nodeOf(m, "call").Input[0] = "call"
		}, "call: needs its own output"},
		"graph=no argument": {func(m *tfpb.MetaGraphDef) {
			withCall(t, defined(t, "f", "", "a"))(m)
			nodeOf(m, "call").Input = nil
		}, "call/ has 0 inputs, its function wants 1"},
		"graph=chain of 100000": {func(m *tfpb.MetaGraphDef) {
			for i := range 100_000 {
				m.GraphDef.Node = append(m.GraphDef.Node, &tfpb.NodeDef{Name: fmt.Sprint("n", i), Op: "Identity", Input: []string{fmt.Sprint("n", i+1)}})
			}
			nodeOf(m, "y").Input[0] = "n0"
		}, "32768 that need one another"},
		"graph=a node of 2^21 inputs": {func(m *tfpb.MetaGraphDef) {
			n := &tfpb.NodeDef{Name: "n", Op: "IdentityN", Input: slices.Repeat([]string{"x"}, 1<<21)}
			m.GraphDef.Node = append(m.GraphDef.Node, n)
			nodeOf(m, "y").Input[0] = "n"
		}, "nodes with more than 1048576 inputs together"},
		"graph=1000 nodes of 4096 outputs": {func(m *tfpb.MetaGraphDef) {
			types := &tfpb.AttrValue_ListValue{Type: slices.Repeat([]tfpb.DataType{tfpb.DataType_DT_FLOAT}, 1<<12)}
			sum := &tfpb.NodeDef{Name: "sum", Op: "Pack"}
			for i := range 1000 {
				m.GraphDef.Node = append(m.GraphDef.Node, &tfpb.NodeDef{Name: fmt.Sprint("n", i), Op: "IdentityN", Input: []string{"x"},
					Attr: map[string]*tfpb.AttrValue{"T": {Value: &tfpb.AttrValue_List{List: types}}}})
				sum.Input = append(sum.Input, fmt.Sprint("n", i))
			}
			m.GraphDef.Node = append(m.GraphDef.Node, sum)
			nodeOf(m, "y").Input[0] = "sum"
		}, "nodes with more than 1048576 outputs together"},
		"graph=300 signatures": {func(m *tfpb.MetaGraphDef) {
			for i := range 300 {
				m.SignatureDef[fmt.Sprint(i)] = m.SignatureDef["serving_default"]
			}
		}, "301 signatures, want 256 at most"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Open(write(t, c.change))
			if err == nil {
				m.Close()
				t.Fatal("the model opens")
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestRunLimits verifies that a run ends before it makes a tensor of more than 1 GiB.
func TestRunLimits(t *testing.T) {
	m, err := Open(write(t, func(m *tfpb.MetaGraphDef) {
		n := &tfpb.NodeDef{Name: "shape", Op: "Cast", Input: []string{"x"}, Attr: map[string]*tfpb.AttrValue{
			"SrcT": {Value: &tfpb.AttrValue_Type{Type: tfpb.DataType_DT_FLOAT}}, "DstT": {Value: &tfpb.AttrValue_Type{Type: tfpb.DataType_DT_INT32}}}}
		m.GraphDef.Node = append(m.GraphDef.Node, n, &tfpb.NodeDef{Name: "wide", Op: "Tile", Input: []string{"x", "shape"}})
		nodeOf(m, "y").Input[0] = "wide"
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	p := compiled(t, m, "serving_default")
	_, err = p.Run([]*Tensor{{Type: tfpb.DataType_DT_FLOAT, Shape: []int{1}, Float32: []float32{1 << 29}}})
	if err == nil || !strings.Contains(err.Error(), "wide (Tile): a tensor of shape [536870912] takes more than 1073741824 bytes") {
		t.Errorf("%v, want that the tensor takes too much", err)
	}
}
