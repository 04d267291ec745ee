package savedmodel

import (
	"fmt"
	"slices"

	"ringtrain/export/tfpb"
)

// builder collects nodes. The first output of a node has the node's name; further ones
// are "name:1", "name:2".
type builder struct {
	nodes []*tfpb.NodeDef
	taken map[string]bool // names of nodes

	tables string        // node that fills the vocabulary tables; "" without vocabularies
	fill   *tfpb.NodeDef // that node
}

type attrs map[string]*tfpb.AttrValue

// add adds a node and returns its name, which differs from name if that one is taken.
// Only names with a slash, such as those of layers, can be taken.
func (bu *builder) add(op, name string, inputs []string, a attrs) string {
	name = bu.unique(name)
	bu.nodes = append(bu.nodes, &tfpb.NodeDef{Name: name, Op: op, Input: inputs, Attr: a})
	return name
}

// unique returns the first unused name of name, name_1, name_2, as TensorFlow does.
func (bu *builder) unique(name string) string {
	free := name
	for i := 1; bu.taken[free]; i++ {
		free = fmt.Sprintf("%s_%d", name, i)
	}
	if bu.taken == nil {
		bu.taken = map[string]bool{}
	}
	bu.taken[free] = true
	return free
}

// output returns the name of an output of a node, as an input of another.
func output(node string, i int) string {
	if i == 0 {
		return node
	}
	return fmt.Sprintf("%s:%d", node, i)
}

func typeAttr(t tfpb.DataType) *tfpb.AttrValue {
	return &tfpb.AttrValue{Value: &tfpb.AttrValue_Type{Type: t}}
}

func intAttr(i int64) *tfpb.AttrValue { return &tfpb.AttrValue{Value: &tfpb.AttrValue_I{I: i}} }

func stringAttr(s string) *tfpb.AttrValue {
	return &tfpb.AttrValue{Value: &tfpb.AttrValue_S{S: []byte(s)}}
}

func boolAttr(b bool) *tfpb.AttrValue { return &tfpb.AttrValue{Value: &tfpb.AttrValue_B{B: b}} }

func floatAttr(f float32) *tfpb.AttrValue { return &tfpb.AttrValue{Value: &tfpb.AttrValue_F{F: f}} }

func shapeAttr(dims ...int64) *tfpb.AttrValue {
	return &tfpb.AttrValue{Value: &tfpb.AttrValue_Shape{Shape: shape(dims...)}}
}

func listAttr(l *tfpb.AttrValue_ListValue) *tfpb.AttrValue {
	return &tfpb.AttrValue{Value: &tfpb.AttrValue_List{List: l}}
}

// typesAttr returns a list of types. The list may be empty.
func typesAttr(types ...tfpb.DataType) *tfpb.AttrValue {
	return listAttr(&tfpb.AttrValue_ListValue{Type: types})
}

// floats returns the attributes of operations that have only T.
func floats() attrs { return attrs{"T": typeAttr(tfpb.DataType_DT_FLOAT)} }

// shape returns a shape, without dimensions that of a scalar.
func shape(dims ...int64) *tfpb.TensorShapeProto {
	s := &tfpb.TensorShapeProto{}
	for _, d := range dims {
		s.Dim = append(s.Dim, &tfpb.TensorShapeProto_Dim{Size: d})
	}
	return s
}

// constant adds a Const. If the list of values is shorter than the shape, the last value
// repeats.
func (bu *builder) constant(name string, v *tfpb.TensorProto) string {
	return bu.add("Const", name, nil, attrs{
		"dtype": typeAttr(v.Dtype),
		"value": {Value: &tfpb.AttrValue_Tensor{Tensor: v}},
	})
}

// number adds an int32 scalar.
func (bu *builder) number(name string, v int32) string {
	return bu.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_INT32, TensorShape: shape(), IntVal: []int32{v}})
}

// numbers adds an int32 vector.
func (bu *builder) numbers(name string, v ...int32) string {
	return bu.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_INT32, TensorShape: shape(int64(len(v))), IntVal: v})
}

// float adds a float scalar.
func (bu *builder) float(name string, v float32) string {
	return bu.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_FLOAT, TensorShape: shape(), FloatVal: []float32{v}})
}

// zeros adds a float tensor of zeros.
func (bu *builder) zeros(name string, dims ...int64) string {
	v := &tfpb.TensorProto{Dtype: tfpb.DataType_DT_FLOAT, TensorShape: shape(dims...)}
	if !slices.Contains(dims, 0) {
		v.FloatVal = []float32{0}
	}
	return bu.constant(name, v)
}

// texts adds a string tensor, without dimensions a scalar.
func (bu *builder) texts(name string, dims []int64, values ...string) string {
	v := &tfpb.TensorProto{Dtype: tfpb.DataType_DT_STRING, TensorShape: shape(dims...)}
	for _, s := range values {
		v.StringVal = append(v.StringVal, []byte(s))
	}
	return bu.constant(name, v)
}

// strings adds a string vector.
func (bu *builder) strings(name string, values ...string) string {
	return bu.texts(name, []int64{int64(len(values))}, values...)
}
