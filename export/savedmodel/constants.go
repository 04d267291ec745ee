package savedmodel

import (
	"slices"

	"ringtrain/export/tfpb"
)

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

// long adds an int64 scalar, longs a vector.
func (bu *builder) long(name string, v int64) string {
	return bu.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_INT64, TensorShape: shape(), Int64Val: []int64{v}})
}

func (bu *builder) longs(name string, v []int64) string {
	return bu.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_INT64, TensorShape: shape(int64(len(v))), Int64Val: v})
}

func (bu *builder) double(name string, v float64) string {
	return bu.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_DOUBLE, TensorShape: shape(), DoubleVal: []float64{v}})
}

// doubles adds a vector of doubles, bools one of truths.
func (bu *builder) doubles(name string, v []float64) string {
	return bu.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_DOUBLE, TensorShape: shape(int64(len(v))), DoubleVal: v})
}

func (bu *builder) bools(name string, v []bool) string {
	return bu.constant(name, &tfpb.TensorProto{Dtype: tfpb.DataType_DT_BOOL, TensorShape: shape(int64(len(v))), BoolVal: v})
}
