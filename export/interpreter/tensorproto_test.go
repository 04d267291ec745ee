package interpreter

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"

	"ringtrain/export/tfpb"
)

// protoOf returns a message of a shape.
func protoOf(t tfpb.DataType, dims ...int64) *tfpb.TensorProto {
	shape := &tfpb.TensorShapeProto{}
	for _, d := range dims {
		shape.Dim = append(shape.Dim, &tfpb.TensorShapeProto_Dim{Size: d})
	}
	return &tfpb.TensorProto{Dtype: t, TensorShape: shape}
}

// TestFromProtoForms verifies that the values of a message are the same in both of its forms, for
// each type, and that Proto gives back the form of a list.
func TestFromProtoForms(t *testing.T) {
	nan := float32(math.NaN())
	for _, tt := range []struct {
		content string
		list    *tfpb.TensorProto
		want    *Tensor
	}{
		{"\x00\x00\x80\x3f\x00\x00\xc0\x7f", &tfpb.TensorProto{FloatVal: []float32{1, nan}}, &Tensor{Type: tfpb.DataType_DT_FLOAT, Float32: []float32{1, nan}}},
		{"\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\xf0\xbf", &tfpb.TensorProto{DoubleVal: []float64{1, -1}}, &Tensor{Type: tfpb.DataType_DT_DOUBLE, Float64: []float64{1, -1}}},
		{"\x01\x00\x00\x00\xff\xff\xff\xff", &tfpb.TensorProto{IntVal: []int32{1, -1}}, &Tensor{Type: tfpb.DataType_DT_INT32, Int32: []int32{1, -1}}},
		{"\x01\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff", &tfpb.TensorProto{Int64Val: []int64{1, -1}}, &Tensor{Type: tfpb.DataType_DT_INT64, Int64: []int64{1, -1}}},
		{"\x01\x00", &tfpb.TensorProto{BoolVal: []bool{true, false}}, &Tensor{Type: tfpb.DataType_DT_BOOL, Bool: []bool{true, false}}},
		{"\x03\x00Bon", &tfpb.TensorProto{StringVal: [][]byte{[]byte("Bon"), {}}}, &Tensor{Type: tfpb.DataType_DT_STRING, Bytes: [][]byte{[]byte("Bon"), {}}}},
	} {
		tt.want.Shape = []int{2, 1}
		head := protoOf(tt.want.Type, 2, 1)
		proto.Merge(tt.list, head)
		head.TensorContent = []byte(tt.content)
		for form, p := range map[string]*tfpb.TensorProto{"content": head, "list": tt.list} {
			got, err := FromProto(p, 1<<20)
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(Tensor{}), cmpopts.EquateNaNs()); err != nil || diff != "" {
				t.Errorf("%v as %s: %v, -want +got:\n%s", tt.want.Type, form, err, diff)
			}
		}
		if back := tt.want.Proto(); !proto.Equal(back, tt.list) {
			t.Errorf("Proto gives %v, want %v", back, tt.list)
		}
	}
}

// TestFromProtoRepeats verifies that the last value of a short list repeats, that an empty list means
// zeros, and that values beyond the shape are ignored, as TensorFlow does.
func TestFromProtoRepeats(t *testing.T) {
	for _, tt := range []struct {
		dims       []int64
		list, want []float32
	}{
		{[]int64{2, 2}, []float32{1, 2}, []float32{1, 2, 2, 2}},
		{[]int64{3}, nil, []float32{0, 0, 0}},
		{[]int64{1}, []float32{1, 2}, []float32{1}},
		{nil, []float32{5}, []float32{5}},
		{[]int64{0, 1 << 40}, []float32{5}, []float32{}},
	} {
		p := protoOf(tfpb.DataType_DT_FLOAT, tt.dims...)
		p.FloatVal = tt.list
		got, err := FromProto(p, 1<<20)
		if err != nil || !cmp.Equal(got.Float32, tt.want) {
			t.Errorf("%v of shape %v: %v, %v, want %v", tt.list, tt.dims, got, err, tt.want)
		}
	}
}

// TestFromProtoRefuses verifies that what is no tensor, or takes too much memory, is an error.
func TestFromProtoRefuses(t *testing.T) {
	content := func(t tfpb.DataType, content string, dims ...int64) *tfpb.TensorProto {
		p := protoOf(t, dims...)
		p.TensorContent = []byte(content)
		return p
	}
	unknown := protoOf(tfpb.DataType_DT_FLOAT)
	unknown.TensorShape.UnknownRank = true
	for _, tt := range []struct {
		p    *tfpb.TensorProto
		want string
	}{
		{protoOf(tfpb.DataType_DT_FLOAT, 1<<40), "takes more than 1048576 bytes"},
		{protoOf(tfpb.DataType_DT_FLOAT, 1<<32, 1<<32), "takes more than"},
		{protoOf(tfpb.DataType_DT_STRING, 1<<17), "takes more than"},
		{protoOf(tfpb.DataType_DT_FLOAT, 2, -1), "a tensor of shape [2 -1] has a negative size"},
		{protoOf(tfpb.DataType_DT_FLOAT, make([]int64, 255)...), "more than 254"},
		{unknown, "unknown rank"},
		{protoOf(tfpb.DataType_DT_HALF, 1), "type DT_HALF"},
		{protoOf(tfpb.DataType_DT_INVALID, 1), "type DT_INVALID"},
		{content(tfpb.DataType_DT_FLOAT, "1234567", 2), "7 bytes of tensor_content"},
		{content(tfpb.DataType_DT_STRING, "\x03", 1), "ends in text 0"},
		{content(tfpb.DataType_DT_STRING, "\x80\x80", 2), "ends in the lengths"},
		{content(tfpb.DataType_DT_STRING, "\x01", 1000), "1 bytes of tensor_content for 1000 texts"},
		{content(tfpb.DataType_DT_STRING, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 1), "ends in text 0"},
	} {
		if _, err := FromProto(tt.p, 1<<20); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("FromProto of %v: %v, want an error with %q", tt.p, err, tt.want)
		}
	}
}

// FuzzFromProto verifies that no message makes FromProto panic or take more than its limit, and that
// a tensor has as many values as its shape says.
func FuzzFromProto(f *testing.F) {
	for _, t := range []tfpb.DataType{tfpb.DataType_DT_FLOAT, tfpb.DataType_DT_STRING, tfpb.DataType_DT_BOOL} {
		p := protoOf(t, 2, 1)
		p.TensorContent = []byte("\x01\x02abcdef")
		text, err := proto.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var p tfpb.TensorProto
		if proto.Unmarshal(text, &p) != nil {
			return
		}
		const limit = 1 << 16
		got, err := FromProto(&p, limit)
		if err != nil {
			return
		}
		n := len(got.Float32) + len(got.Float64) + len(got.Int32) + len(got.Int64) + len(got.Bool) + len(got.Bytes)
		if want := Elements(got.Shape); n != want || n*laneOf(got.Type).size() > limit {
			t.Errorf("%d values of shape %v, want %d and at most %d bytes", n, got.Shape, want, limit)
		}
	})
}
