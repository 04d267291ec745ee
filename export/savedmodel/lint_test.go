package savedmodel

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/tfpb"
	"ringtrain/model"
	"ringtrain/model/graph"
)

// linter checks a graph against the declarations of its operations, as TensorFlow does
// at import. It is stricter: no attribute may equal its default.
type linter struct {
	ops    map[string]*tfpb.OpDef
	nodes  map[string]*tfpb.NodeDef
	faults []string
}

func lint(nodes []*tfpb.NodeDef, ops map[string]*tfpb.OpDef) []string {
	l := linter{ops: ops, nodes: map[string]*tfpb.NodeDef{}}
	for _, n := range nodes {
		if l.nodes[n.GetName()] != nil {
			l.fault(n, "the name occurs twice")
		}
		l.nodes[n.GetName()] = n
	}
	for _, n := range nodes {
		op := ops[n.GetOp()]
		if op == nil {
			l.fault(n, "operation %s is not declared", n.GetOp())
			continue
		}
		l.attrs(n, op)
		l.inputs(n, op)
	}
	return l.faults
}

func (l *linter) fault(n *tfpb.NodeDef, format string, args ...any) {
	l.faults = append(l.faults, n.GetName()+": "+fmt.Sprintf(format, args...))
}

func (l *linter) attrs(n *tfpb.NodeDef, op *tfpb.OpDef) {
	for name, v := range n.GetAttr() {
		def := attrDef(op, name)
		switch {
		case strings.HasPrefix(name, "_"):
		case def == nil:
			l.fault(n, "attribute %s is not declared", name)
		case kindOf(v) != strings.SplitN(def.GetType(), "(", 2)[0]:
			l.fault(n, "attribute %s is a %s, want %s", name, kindOf(v), def.GetType())
		case def.GetDefaultValue() != nil && proto.Equal(v, def.GetDefaultValue()):
			l.fault(n, "attribute %s equals its default", name)
		}
	}
	for _, def := range op.GetAttr() {
		if def.GetDefaultValue() == nil && n.GetAttr()[def.GetName()] == nil {
			l.fault(n, "attribute %s is missing", def.GetName())
		}
	}
}

func kindOf(v *tfpb.AttrValue) string {
	switch v.GetValue().(type) {
	case *tfpb.AttrValue_List:
		return "list"
	case *tfpb.AttrValue_S:
		return "string"
	case *tfpb.AttrValue_I:
		return "int"
	case *tfpb.AttrValue_F:
		return "float"
	case *tfpb.AttrValue_B:
		return "bool"
	case *tfpb.AttrValue_Type:
		return "type"
	case *tfpb.AttrValue_Shape:
		return "shape"
	case *tfpb.AttrValue_Tensor:
		return "tensor"
	case *tfpb.AttrValue_Func:
		return "func"
	}
	return "nothing"
}

func (l *linter) inputs(n *tfpb.NodeDef, op *tfpb.OpDef) {
	want := l.types(n, op, op.GetInputArg())
	data := 0
	for i, in := range n.GetInput() {
		if name, ok := strings.CutPrefix(in, "^"); ok {
			if l.nodes[name] == nil {
				l.fault(n, "there is no node %s", name)
			}
			continue
		}
		if data != i {
			l.fault(n, "input %s comes after a control input", in)
		}
		data++
		got, ok := l.typeOf(in)
		if !ok {
			l.fault(n, "there is no %s", in)
		} else if i < len(want) && got != want[i] {
			l.fault(n, "input %s is %v, want %v", in, got, want[i])
		}
	}
	if data != len(want) {
		l.fault(n, "%d inputs, want %d", data, len(want))
	}
}

// typeOf returns the type of "node" or "node:1".
func (l *linter) typeOf(input string) (tfpb.DataType, bool) {
	name, index, _ := strings.Cut(input, ":")
	i, _ := strconv.Atoi(index)
	n := l.nodes[name]
	if n == nil || l.ops[n.GetOp()] == nil {
		return 0, false
	}
	op := l.ops[n.GetOp()]
	types := l.types(n, op, op.GetOutputArg())
	if i >= len(types) {
		return 0, false
	}
	return types[i], true
}

// types returns the types of a node's inputs or outputs, one for each.
func (l *linter) types(n *tfpb.NodeDef, op *tfpb.OpDef, args []*tfpb.OpDef_ArgDef) []tfpb.DataType {
	value := func(name string) *tfpb.AttrValue {
		if v := n.GetAttr()[name]; v != nil {
			return v
		}
		return attrDef(op, name).GetDefaultValue()
	}
	var types []tfpb.DataType
	for _, a := range args {
		if list := a.GetTypeListAttr(); list != "" {
			types = append(types, value(list).GetList().GetType()...)
			continue
		}
		t := a.GetType()
		if a.GetTypeAttr() != "" {
			t = value(a.GetTypeAttr()).GetType()
		}
		count := int64(1)
		if a.GetNumberAttr() != "" {
			count = value(a.GetNumberAttr()).GetI()
		}
		for range count {
			types = append(types, t)
		}
	}
	return types
}

// lintMeta checks a whole meta graph: its nodes, and the names in saver, signatures and
// collections.
func lintMeta(meta *tfpb.MetaGraphDef, ops map[string]*tfpb.OpDef) []string {
	l := linter{ops: ops, nodes: map[string]*tfpb.NodeDef{}}
	for _, n := range meta.GetGraphDef().GetNode() {
		l.nodes[n.GetName()] = n
	}
	faults := lint(meta.GetGraphDef().GetNode(), ops)
	ends := func(where string, infos map[string]*tfpb.TensorInfo) {
		for key, info := range infos {
			if got, ok := l.typeOf(info.GetName()); !ok || got != info.GetDtype() {
				faults = append(faults, fmt.Sprintf("%s %s: %s is %v, want %v", where, key, info.GetName(), got, info.GetDtype()))
			}
		}
	}
	for name, s := range meta.GetSignatureDef() {
		ends(name, s.GetInputs())
		ends(name, s.GetOutputs())
	}
	names := []string{
		meta.GetSaverDef().GetFilenameTensorName(), meta.GetSaverDef().GetSaveTensorName(),
		meta.GetSaverDef().GetRestoreOpName() + ":",
	}
	for _, c := range meta.GetCollectionDef() {
		for _, b := range c.GetBytesList().GetValue() {
			var v tfpb.VariableDef
			if err := proto.Unmarshal(b, &v); err != nil {
				faults = append(faults, err.Error())
			}
			names = append(names, v.VariableName, v.InitializerName+":", v.SnapshotName, v.InitialValueName)
		}
	}
	for _, full := range names {
		if name, _, ok := strings.Cut(full, ":"); !ok || l.nodes[name] == nil {
			faults = append(faults, fmt.Sprintf("there is no %q", full))
		}
	}
	return faults
}

// TestLint verifies every kind of export against the declarations of TensorFlow's
// operations.
func TestLint(t *testing.T) {
	ops := parseOps(t)
	for kind, d := range graphs() {
		for _, f := range lintMeta(build(d, DefaultNames()).MetaGraphs[0], ops) {
			t.Errorf("%s: %s", kind, f)
		}
	}
}

// TestLintFindsFaults verifies that the linter finds each of several faults in a correct
// graph.
func TestLintFindsFaults(t *testing.T) {
	ops := parseOps(t)
	find := func(m *tfpb.MetaGraphDef, name string) *tfpb.NodeDef {
		for _, n := range m.GraphDef.Node {
			if n.Name == name {
				return n
			}
		}
		t.Fatalf("there is no node %s", name)
		return nil
	}
	for name, plant := range map[string]func(m *tfpb.MetaGraphDef){
		"input=unknown":     func(m *tfpb.MetaGraphDef) { find(m, "y").Input[0] = "nowhere" },
		"input=wrong type":  func(m *tfpb.MetaGraphDef) { find(m, "y").Input[0] = "tf_example" },
		"input=no output":   func(m *tfpb.MetaGraphDef) { find(m, "classes").Input[1] = "TopKV2:2" },
		"input=too few":     func(m *tfpb.MetaGraphDef) { find(m, "TopKV2").Input = []string{"y"} },
		"attribute=default": func(m *tfpb.MetaGraphDef) { find(m, "TopKV2").Attr["sorted"] = parseDefault(t, "bool", "true") },
		"attribute=newer":   func(m *tfpb.MetaGraphDef) { find(m, "TopKV2").Attr["index_type"] = typeAttr(3) },
		"attribute=missing": func(m *tfpb.MetaGraphDef) { delete(find(m, "y").Attr, "T") },
		"attribute=kind":    func(m *tfpb.MetaGraphDef) { find(m, "y").Attr["T"] = intAttr(1) },
		"name=twice":        func(m *tfpb.MetaGraphDef) { find(m, "y").Name = "labels" },
		"signature=type":    func(m *tfpb.MetaGraphDef) { m.SignatureDef["serving_default"].Outputs["scores"].Dtype = 3 },
		"saver=nowhere":     func(m *tfpb.MetaGraphDef) { m.SaverDef.RestoreOpName = "save/restore" },
	} {
		m := build(softmax(), DefaultNames()).MetaGraphs[0]
		plant(m)
		if len(lintMeta(m, ops)) == 0 {
			t.Errorf("%s: the linter finds nothing", name)
		}
	}
}

// TestLayersNamedAsNodes verifies that layers may have the names of existing nodes, and
// that an attribute equal to TensorFlow's default is omitted.
func TestLayersNamedAsNodes(t *testing.T) {
	plain := &model.PlainLayer{}
	g, err := model.Config{Layers: []model.Layer{
		{Name: "c", Dense: &model.DenseLayer{Units: 3, Activation: "leaky_relu"}},
		{Name: "classes", LayerNorm: &model.LayerNormLayer{}}, // the head has classes/axis
		{Name: "a", GELU: plain}, {Name: "a/gelu", GELU: plain}, {Name: "a/Gelu", LayerNorm: &model.LayerNormLayer{}},
		{Name: "r", ReLU: plain}, {Name: "r/relu", ReLU: plain},
	}}.GraphOf(model.Inputs{Dense: graph.Shape{4}}, model.LossConfig{})
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range lintMeta(build(g, DefaultNames()).MetaGraphs[0], parseOps(t)) {
		t.Error(fault)
	}
}

// TestLintTensorFlow verifies that the linter finds nothing in graphs that TensorFlow
// wrote, with the declarations that they carry. (Older graphs still have default
// attributes.)
func TestLintTensorFlow(t *testing.T) {
	count := 0
	for path, m := range tensorFlowModels(t) {
		for _, meta := range m.GetMetaGraphs() {
			ops := map[string]*tfpb.OpDef{}
			for _, op := range meta.GetMetaInfoDef().GetStrippedOpList().GetOp() {
				ops[op.GetName()] = op
			}
			for _, f := range meta.GetGraphDef().GetLibrary().GetFunction() {
				ops[f.GetSignature().GetName()] = f.GetSignature()
			}
			count += len(meta.GetGraphDef().GetNode())
			for _, f := range lint(meta.GetGraphDef().GetNode(), ops) {
				if !meta.GetMetaInfoDef().GetStrippedDefaultAttrs() && strings.HasSuffix(f, "equals its default") {
					continue
				}
				t.Errorf("%s: %s", path, f)
			}
		}
	}
	if count < 1000 {
		t.Errorf("met %d nodes, want 1000 at least", count)
	}
	t.Logf("%d nodes of TensorFlow pass", count)
}

// tensorFlowModels reads the models that TensorFlow wrote.
func tensorFlowModels(t *testing.T) map[string]*tfpb.SavedModel {
	t.Helper()
	dir := filepath.Join("..", "testdata")
	models := map[string]*tfpb.SavedModel{}
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != modelFile {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		var m tfpb.SavedModel
		models[path] = &m
		return proto.Unmarshal(b, &m)
	})
	if err != nil {
		t.Fatal(err)
	}
	return models
}

// graphs returns small models of every kind, one with large variables, and one with
// every layer.
func graphs() map[string]*graph.Graph {
	all := map[string]*graph.Graph{}
	ofBoth := func(name string, in model.Inputs, loss string, c model.Config) {
		g, err := c.GraphOf(in, model.LossConfig{Kind: model.Loss(loss)})
		if err != nil {
			panic("savedmodel: " + err.Error())
		}
		all[name] = g
	}
	add := func(name string, shape graph.Shape, loss string, c model.Config) {
		in := model.Inputs{Dense: shape}
		if c.ReadsIDs(model.MayHaveIDs) {
			in = model.Inputs{IDs: shape.Len()}
		}
		ofBoth(name, in, loss, c)
	}
	add("linear", graph.Shape{2}, "", model.Config{Kind: "linear"})
	add("linear-sigmoid", graph.Shape{3}, "sigmoid", model.Config{Kind: "linear"})
	add("softmax", graph.Shape{4}, "", model.Config{Kind: "softmax", Classes: model.Count(3)})
	add("mlp", graph.Shape{4}, "", model.Config{Kind: "mlp", Classes: model.Count(2), Hidden: []int{3}})
	add("sparse-linear", graph.Shape{5}, "", model.Config{Kind: "sparse-linear"})
	ofBoth("mlp-of-both", model.Inputs{IDs: 9, Fields: 2, Dense: graph.Shape{2}}, "softmax", model.Config{Kind: "mlp", Classes: model.Count(3), Hidden: []int{3, 2}})
	add("sparse-linear-large", graph.Shape{100000}, "", model.Config{Kind: "sparse-linear"})
	add("fm", graph.Shape{5}, "", model.Config{Kind: "fm", Embedding: 3})
	add("wide-deep", graph.Shape{5}, "", model.Config{Kind: "wide-deep", Hidden: []int{3}, Embedding: 2})
	ofBoth("deepfm", model.Inputs{IDs: 9, Fields: 3, Dense: graph.Shape{2}}, "", model.Config{Kind: "deepfm", Hidden: []int{3}, Embedding: 2, Pooling: "mean"})
	ofBoth("dcn", model.Inputs{IDs: 9, Fields: 2}, "softmax", model.Config{Kind: "dcn", Hidden: []int{3}, Classes: model.Count(3), Embedding: 2, Pooling: "sqrtn", Cross: 1})
	ofBoth("fm-squared", model.Inputs{IDs: 9, Fields: 2}, "squared", model.Config{Kind: "fm", Embedding: 2})
	all["fm-squared"].Head.Scale = logScale
	add("fm-classes", graph.Shape{9}, "softmax", model.Config{Kind: "fm", Embedding: 2, Classes: model.Count(3)})
	add("layers", graph.Shape{7, 6, 2}, "", model.Config{Layers: everyLayer()})
	return all
}

// logScale scales the label of a regression.
var logScale = &graph.DenseColumn{Name: "price", Log1p: true, Mean: 0.5, Scale: 4}

// everyLayer has each kind of layer, with options besides the defaults.
func everyLayer() []model.Layer {
	none, plain, slope, epsilon := false, &model.PlainLayer{}, 0.1, 1e-5
	return []model.Layer{
		{Name: "stem", Conv2D: &model.Conv2DLayer{Filters: 4, Kernel: []int{3, 2}, Padding: "same", Activation: "relu"}},
		{LayerNorm: &model.LayerNormLayer{Epsilon: &epsilon}},
		{Name: "b", Conv2D: &model.Conv2DLayer{Filters: 4, Kernel: []int{3}, Padding: "same", UseBias: &none}},
		{Name: "sum", In: []string{"stem", "b"}, Add: plain},
		{GELU: plain}, {MaxPool2D: &model.PoolLayer{Padding: "same"}},
		{Name: "wide", Conv2D: &model.Conv2DLayer{Filters: 3, Kernel: []int{2}, Strides: []int{2, 1}, Activation: "tanh"}},
		{AvgPool2D: &model.PoolLayer{PoolSize: []int{2, 1}, Strides: []int{1}, Padding: "same"}},
		{LeakyReLU: &model.LeakyReLULayer{NegativeSlope: &slope}},
		{Name: "mean", GlobalAvgPool: plain},
		{Name: "flat", In: []string{"wide"}, Flatten: plain},
		{Name: "both", In: []string{"mean", "flat"}, Concat: plain},
		{Dropout: &model.DropoutLayer{Rate: 0.5}},
		{Name: "hidden", Dense: &model.DenseLayer{Units: 5, Activation: "sigmoid"}},
		{Tanh: plain}, {Sigmoid: plain}, {ReLU: plain},
		{Name: "logits", Dense: &model.DenseLayer{Units: 3}},
	}
}
