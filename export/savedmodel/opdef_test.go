package savedmodel

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"ringtrain/export/tfpb"
)

// opTable declares the operations of exports as TensorFlow 1.12 did (2.1 for newer
// ones): inputs, outputs, and attributes with their defaults. An attribute that is
// missing here came later; writing it would make old servers refuse the export. "N*T"
// means N inputs of type T, "[x]" one input for each type of the list x.
const opTable = `
Abs                    | x:T | y:T | T:type
AddV2                  | x:T y:T | z:T | T:type
All                    | input:bool reduction_indices:Tidx | output:bool | keep_dims:bool=false Tidx:type=int32
Assert                 | condition:bool data:[T] | | T:list(type) summarize:int=3
AssignVariableOp       | resource:resource value:dtype | | dtype:type
AvgPool                | value:T | output:T | ksize:list(int) strides:list(int) padding:string data_format:string=NHWC T:type
BiasAdd                | value:T bias:T | output:T | T:type data_format:string=NHWC
Cast                   | x:SrcT | y:DstT | SrcT:type DstT:type Truncate:bool=false
ConcatV2               | values:N*T axis:Tidx | output:T | N:int T:type Tidx:type=int32
Const                  | | output:dtype | value:tensor dtype:type
Conv2D                 | input:T filter:T | output:T | T:type strides:list(int) use_cudnn_on_gpu:bool=true padding:string data_format:string=NHWC
Cumsum                 | x:T axis:Tidx | out:T | exclusive:bool=false reverse:bool=false T:type Tidx:type=int32
DivNoNan               | x:T y:T | z:T | T:type
Equal                  | x:T y:T | z:bool | T:type
Erf                    | x:T | y:T | T:type
ExpandDims             | input:T dim:Tdim | output:T | T:type Tdim:type=int32
Expm1                  | x:T | y:T | T:type
Fill                   | dims:index_type value:T | output:T | T:type index_type:type=int32
Floor                  | x:T | y:T | T:type
FloorDiv               | x:T y:T | z:T | T:type
FloorMod               | x:T y:T | z:T | T:type
GatherNd               | params:Tparams indices:Tindices | output:Tparams | Tparams:type Tindices:type
GatherV2               | params:Tparams indices:Tindices axis:Taxis | output:Tparams | batch_dims:int=0 Tparams:type Tindices:type Taxis:type
GreaterEqual           | x:T y:T | z:bool | T:type
HashTableV2            | | table_handle:resource | container:string= shared_name:string= use_node_name_sharing:bool=false key_dtype:type value_dtype:type
Identity               | input:T | output:T | T:type
IsNan                  | x:T | y:bool | T:type
LeakyRelu              | features:T | activations:T | alpha:float=0.2 T:type=float
Less                   | x:T y:T | z:bool | T:type
LessEqual              | x:T y:T | z:bool | T:type
Log1p                  | x:T | y:T | T:type
LogicalAnd             | x:bool y:bool | z:bool |
LogicalNot             | x:bool | y:bool |
LogicalOr              | x:bool y:bool | z:bool |
LookupTableFindV2      | table_handle:resource keys:Tin default_value:Tout | values:Tout | Tin:type Tout:type
LookupTableImportV2    | table_handle:resource keys:Tin values:Tout | | Tin:type Tout:type
MatMul                 | a:T b:T | product:T | transpose_a:bool=false transpose_b:bool=false T:type
MaxPool                | input:T | output:T | T:type=float ksize:list(int) strides:list(int) padding:string data_format:string=NHWC
Mean                   | input:T reduction_indices:Tidx | output:T | keep_dims:bool=false T:type Tidx:type=int32
Mul                    | x:T y:T | z:T | T:type
NoOp                   | | |
NotEqual               | x:T y:T | z:bool | T:type
Pack                   | values:N*T | output:T | N:int T:type axis:int=0
ParseExample           | serialized:string names:string sparse_keys:Nsparse*string dense_keys:Ndense*string dense_defaults:[Tdense] | sparse_indices:Nsparse*int64 sparse_values:[sparse_types] sparse_shapes:Nsparse*int64 dense_values:[Tdense] | Nsparse:int Ndense:int sparse_types:list(type) Tdense:list(type) dense_shapes:list(shape)
Placeholder            | | output:dtype | dtype:type shape:shape=unknown
PlaceholderWithDefault | input:dtype | output:dtype | dtype:type shape:shape
RaggedTensorToSparse   | rt_nested_splits:RAGGED_RANK*Tsplits rt_dense_values:T | sparse_indices:int64 sparse_values:T sparse_dense_shape:int64 | RAGGED_RANK:int T:type Tsplits:type=int64
ReadVariableOp         | resource:resource | value:dtype | dtype:type
RegexReplace           | input:string pattern:string rewrite:string | output:string | replace_global:bool=true
Relu                   | features:T | activations:T | T:type
Reshape                | tensor:T shape:Tshape | output:T | T:type Tshape:type=int32
ResourceGather         | resource:resource indices:Tindices | output:dtype | batch_dims:int=0 validate_indices:bool=true dtype:type Tindices:type
RestoreV2              | prefix:string tensor_names:string shape_and_slices:string | tensors:[dtypes] | dtypes:list(type)
Rsqrt                  | x:T | y:T | T:type
SaveV2                 | prefix:string tensor_names:string shape_and_slices:string tensors:[dtypes] | | dtypes:list(type)
SelectV2               | condition:bool t:T e:T | output:T | T:type
Shape                  | input:T | output:out_type | T:type out_type:type=int32
Sigmoid                | x:T | y:T | T:type
Sign                   | x:T | y:T | T:type
Softmax                | logits:T | softmax:T | T:type
Sqrt                   | x:T | y:T | T:type
Square                 | x:T | y:T | T:type
StridedSlice           | input:T begin:Index end:Index strides:Index | output:T | T:type Index:type begin_mask:int=0 end_mask:int=0 ellipsis_mask:int=0 new_axis_mask:int=0 shrink_axis_mask:int=0
StaticRegexFullMatch   | input:string | output:bool | pattern:string
StringStrip            | input:string | output:string |
StringJoin             | inputs:N*string | output:string | N:int separator:string=
StringLower            | input:string | output:string | encoding:string=
StringNGrams           | data:string data_splits:Tsplits | ngrams:string ngrams_splits:Tsplits | separator:string ngram_widths:list(int) left_pad:string right_pad:string pad_width:int preserve_short_sequences:bool Tsplits:type=int64
StringSplitV2          | input:string sep:string | indices:int64 values:string shape:int64 | maxsplit:int=-1
StringStrip            | input:string | output:string |
StringToNumber         | string_tensor:string | output:out_type | out_type:type=float
StringToHashBucketFast | input:string | output:int64 | num_buckets:int
Sub                    | x:T y:T | z:T | T:type
Sum                    | input:T reduction_indices:Tidx | output:T | keep_dims:bool=false T:type Tidx:type=int32
Tanh                   | x:T | y:T | T:type
Tile                   | input:T multiples:Tmultiples | output:T | T:type Tmultiples:type=int32
TopKV2                 | input:T k:int32 | values:T indices:int32 | sorted:bool=true T:type
UnicodeTranscode       | input:string | output:string | input_encoding:string output_encoding:string errors:string=replace replacement_char:int=65533 replace_control_characters:bool=false
UnsortedSegmentSum     | data:T segment_ids:Tindices num_segments:Tnumsegments | output:T | T:type Tindices:type Tnumsegments:type=int32
VarHandleOp            | | resource:resource | container:string= shared_name:string= dtype:type shape:shape
Where                  | input:T | index:int64 | T:type=bool
ZerosLike              | x:T | y:T | T:type
`

var typeNames = map[string]tfpb.DataType{
	"float": tfpb.DataType_DT_FLOAT, "string": tfpb.DataType_DT_STRING, "int32": tfpb.DataType_DT_INT32, "int64": tfpb.DataType_DT_INT64,
	"resource": tfpb.DataType_DT_RESOURCE, "bool": tfpb.DataType_DT_BOOL,
}

// parseOps reads opTable.
func parseOps(t *testing.T) map[string]*tfpb.OpDef {
	t.Helper()
	ops := map[string]*tfpb.OpDef{}
	for _, line := range strings.Split(strings.TrimSpace(opTable), "\n") {
		parts := strings.Split(line, "|")
		op := &tfpb.OpDef{
			Name: strings.TrimSpace(parts[0]), InputArg: parseArgs(parts[1]), OutputArg: parseArgs(parts[2]),
		}
		for _, a := range strings.Fields(parts[3]) {
			name, kind, _ := strings.Cut(a, ":")
			kind, value, hasDefault := strings.Cut(kind, "=")
			def := &tfpb.OpDef_AttrDef{Name: name, Type: kind}
			if hasDefault {
				def.DefaultValue = parseDefault(t, kind, value)
			}
			op.Attr = append(op.Attr, def)
		}
		ops[op.Name] = op
	}
	return ops
}

func parseArgs(text string) []*tfpb.OpDef_ArgDef {
	var args []*tfpb.OpDef_ArgDef
	for _, f := range strings.Fields(text) {
		name, kind, _ := strings.Cut(f, ":")
		arg := &tfpb.OpDef_ArgDef{Name: name}
		if number, rest, ok := strings.Cut(kind, "*"); ok {
			arg.NumberAttr, kind = number, rest
		}
		if list, ok := strings.CutPrefix(kind, "["); ok {
			arg.TypeListAttr = strings.TrimSuffix(list, "]")
		} else if arg.Type = typeNames[kind]; arg.Type == 0 {
			arg.TypeAttr = kind
		}
		args = append(args, arg)
	}
	return args
}

func parseDefault(t *testing.T, kind, value string) *tfpb.AttrValue {
	t.Helper()
	switch kind {
	case "bool":
		return &tfpb.AttrValue{Value: &tfpb.AttrValue_B{B: value == "true"}}
	case "int":
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return intAttr(n)
	case "float":
		f, err := strconv.ParseFloat(value, 32)
		if err != nil {
			t.Fatal(err)
		}
		return floatAttr(float32(f))
	case "string":
		return stringAttr(value)
	case "type":
		return typeAttr(typeNames[value])
	case "shape":
		return &tfpb.AttrValue{Value: &tfpb.AttrValue_Shape{Shape: &tfpb.TensorShapeProto{UnknownRank: true}}}
	}
	t.Fatalf("no default of kind %s", kind)
	return nil
}

// TestOpTable verifies opTable against TensorFlow's own declarations in the graphs that
// it wrote.
func TestOpTable(t *testing.T) {
	ours := parseOps(t)
	met := map[string]bool{}
	for path, m := range tensorFlowModels(t) {
		info := m.GetMetaGraphs()[0].GetMetaInfoDef()
		var major, minor int
		fmt.Sscanf(info.GetTensorflowVersion(), "%d.%d", &major, &minor)
		if major == 1 && minor < 12 {
			continue
		}
		for _, theirs := range info.GetStrippedOpList().GetOp() {
			if op := ours[theirs.GetName()]; op != nil {
				met[op.Name] = true
				for _, d := range differences(op, theirs) {
					t.Errorf("%s: %s: %s", path, op.Name, d)
				}
			}
		}
	}
	if len(met) != len(ours) {
		t.Errorf("TensorFlow's graphs declare %d of our %d operations, want all", len(met), len(ours))
	}
}

// differences compares two declarations. Older ones may lack attributes; newer ones may
// have more.
func differences(ours, theirs *tfpb.OpDef) []string {
	var d []string
	args := func(what string, a, b []*tfpb.OpDef_ArgDef) {
		if len(a) != len(b) {
			d = append(d, fmt.Sprintf("%d %s, want %d", len(a), what, len(b)))
			return
		}
		for i := range a {
			x, y := proto.Clone(a[i]).(*tfpb.OpDef_ArgDef), proto.Clone(b[i]).(*tfpb.OpDef_ArgDef)
			x.ProtoReflect().SetUnknown(nil)
			y.ProtoReflect().SetUnknown(nil)
			if kind := attrDef(theirs, y.GetTypeAttr()); attrDef(ours, y.GetTypeAttr()) == nil && kind.GetDefaultValue() != nil {
				y.Type, y.TypeAttr = kind.GetDefaultValue().GetType(), "" // a fixed type became a choice
			}
			if !proto.Equal(x, y) {
				d = append(d, fmt.Sprintf("%s %d is %v, want %v", what, i, x, y))
			}
		}
	}
	args("inputs", ours.InputArg, theirs.GetInputArg())
	args("outputs", ours.OutputArg, theirs.GetOutputArg())
	for _, a := range ours.Attr {
		for _, b := range theirs.GetAttr() {
			if a.Name == b.GetName() && (a.Type != b.GetType() || !proto.Equal(a.DefaultValue, b.GetDefaultValue())) {
				d = append(d, fmt.Sprintf("attribute %v, want %v", a, b))
			}
		}
	}
	for _, b := range theirs.GetAttr() {
		if b.GetDefaultValue() == nil && attrDef(ours, b.GetName()) == nil {
			d = append(d, fmt.Sprintf("attribute %s is missing and has no default", b.GetName()))
		}
	}
	return d
}

func attrDef(op *tfpb.OpDef, name string) *tfpb.OpDef_AttrDef {
	for _, a := range op.GetAttr() {
		if a.GetName() == name {
			return a
		}
	}
	return nil
}
