package savedmodel

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/bundle"
	"ringtrain/export/tfpb"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// Variable is a trained variable.
type Variable struct {
	Name  string
	Shape []int
	Value []float32 // row-major
}

// Trained is the result of training a model.
type Trained struct {
	Job       string // name, by which Other tells another job's version; "" for none
	Names     Names  // of the features in a tf.Example
	Step      int64  // optimizer updates done; stored as global_step
	Variables []Variable
	JobFile   []byte // a copy of the job, in file form; nil: none
}

// globalStep is the variable name of the step, as in TensorFlow. The graph has no such
// variable, so servers ignore it.
const globalStep = "global_step"

// tensors returns the stored tensors.
func (t Trained) tensors() []bundle.Tensor {
	all := make([]bundle.Tensor, 0, len(t.Variables)+1)
	for _, v := range t.Variables {
		all = append(all, bundle.Float32(v.Name, v.Shape, v.Value))
	}
	return append(all, bundle.Int64(globalStep, t.Step))
}

// maxConst is the maximum number of elements of initial zeros that are a constant. A
// Fill node makes larger ones, as in TensorFlow.
const maxConst = 1 << 16

// variablesOf returns the names and shapes of the variables of a model's nodes, in the
// order of the nodes.
func variablesOf(m *graph.Graph) []Variable {
	var vars []Variable
	for _, v := range m.Variables() {
		vars = append(vars, Variable{Name: v.Name, Shape: v.Shape})
	}
	return vars
}

// checkVariables compares the variables of training with those of the model. TensorFlow
// would restore a variable of a wrong shape without an error and fail at the first
// request.
func checkVariables(want, have []Variable) error {
	byName := map[string]Variable{}
	for _, v := range have {
		byName[v.Name] = v
	}
	for _, w := range want {
		v, ok := byName[w.Name]
		if !ok {
			return exitcode.With(exitcode.BadData, fmt.Errorf("savedmodel: variable %s is missing", w.Name))
		}
		n := 1
		for _, d := range v.Shape {
			n *= d
		}
		if !slices.Equal(v.Shape, w.Shape) || len(v.Value) != n {
			return exitcode.With(exitcode.BadData, fmt.Errorf("savedmodel: variable %s has shape %v and %d values, want %v",
				v.Name, v.Shape, len(v.Value), w.Shape))
		}
		delete(byName, w.Name)
	}
	for _, v := range have {
		if _, ok := byName[v.Name]; ok {
			return exitcode.With(exitcode.BadData, fmt.Errorf("savedmodel: variable %s is not in the model", v.Name))
		}
	}
	return nil
}

// variable adds the nodes of a variable. Initializer and Assign are for programs that
// build on the graph; a server never runs them. The kernel identifies a variable by
// shared_name.
func (bu *builder) variable(v Variable) *tfpb.VariableDef {
	dtype := typeAttr(tfpb.DataType_DT_FLOAT)
	zeros := bu.initializer(v)
	bu.add("VarHandleOp", v.Name, nil, attrs{
		"dtype": dtype, "shape": shapeAttr(dims(v)...), "shared_name": stringAttr(v.Name),
	})
	assign := bu.add("AssignVariableOp", v.Name+"/Assign", []string{v.Name, zeros}, attrs{"dtype": dtype})
	read := bu.add("ReadVariableOp", snapshot(v.Name), []string{v.Name}, attrs{"dtype": dtype})
	return &tfpb.VariableDef{
		VariableName:     v.Name + ":0",
		InitializerName:  assign,
		SnapshotName:     read + ":0",
		InitialValueName: zeros + ":0",
		IsResource:       true,
		Trainable:        true,
	}
}

// snapshot returns the name of the node that reads a variable.
func snapshot(variable string) string { return variable + "/Read/ReadVariableOp" }

func (bu *builder) initializer(v Variable) string {
	name := v.Name + "/Initializer/zeros"
	n := int64(1)
	for _, d := range dims(v) {
		n *= d
	}
	if n <= maxConst {
		return bu.zeros(name, dims(v)...)
	}
	size := bu.constant(name+"/shape_as_tensor", &tfpb.TensorProto{
		Dtype: tfpb.DataType_DT_INT64, TensorShape: shape(int64(len(v.Shape))), Int64Val: dims(v),
	})
	zero := bu.float(name+"/Const", 0)
	return bu.add("Fill", name, []string{size, zero}, attrs{
		"T": typeAttr(tfpb.DataType_DT_FLOAT), "index_type": typeAttr(tfpb.DataType_DT_INT64),
	})
}

func dims(v Variable) []int64 {
	d := make([]int64, len(v.Shape))
	for i, n := range v.Shape {
		d[i] = int64(n)
	}
	return d
}

// collections lists the variables for programs that build on the graph.
func collections(defs []*tfpb.VariableDef, tables string) map[string]*tfpb.CollectionDef {
	var list tfpb.CollectionDef_BytesList
	for _, d := range defs {
		list.Value = append(list.Value, marshal(d))
	}
	c := &tfpb.CollectionDef{Kind: &tfpb.CollectionDef_BytesList_{BytesList: &list}}
	all := map[string]*tfpb.CollectionDef{"variables": c, "trainable_variables": c}
	if tables != "" {
		all["saved_model_main_op"] = &tfpb.CollectionDef{Kind: &tfpb.CollectionDef_NodeList_{
			NodeList: &tfpb.CollectionDef_NodeList{Value: []string{tables}},
		}}
	}
	return all
}

// marshal encodes m so that equal messages give equal bytes.
func marshal(m proto.Message) []byte {
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic("savedmodel: a message cannot be encoded")
	}
	return b
}
