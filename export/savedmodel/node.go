package savedmodel

import (
	"fmt"

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

func doubles() attrs { return attrs{"T": typeAttr(tfpb.DataType_DT_DOUBLE)} }

func stringsType() attrs { return attrs{"T": typeAttr(tfpb.DataType_DT_STRING)} }

func (bu *builder) toDouble(name, x string) string {
	return bu.cast(name, x, tfpb.DataType_DT_FLOAT, tfpb.DataType_DT_DOUBLE)
}

func (bu *builder) cast(name, x string, from, to tfpb.DataType) string {
	return bu.add("Cast", name, []string{x}, attrs{"SrcT": typeAttr(from), "DstT": typeAttr(to)})
}

// stack joins vectors [n] as the columns of [n, k].
func (bu *builder) stack(name string, vectors []string, t tfpb.DataType) string {
	return bu.add("Pack", name, vectors, attrs{"N": intAttr(int64(len(vectors))), "T": typeAttr(t), "axis": intAttr(1)})
}

// plus adds a number to int64s.
func (bu *builder) plus(name, x string, n int64) string {
	return bu.add("AddV2", name, []string{x, bu.long(name+"/first", n)}, int64s())
}

// filled adds a float tensor of one value with the shape of like.
func (bu *builder) filled(name, like string, v float32) string {
	dims := bu.add("Shape", name+"/shape", []string{like}, int64s())
	return bu.add("Fill", name, []string{dims, bu.float(name+"/value", v)}, floats())
}
