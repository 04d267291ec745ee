package interpreter

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"ringtrain/export/tfpb"
)

// maxRank bounds the dimensions of a tensor, as TensorFlow does.
const maxRank = 254

// FromProto returns the tensor of a message. The message has the values as bytes, or as a list of
// which the last value repeats; bytes and whole lists are not copied. The values take no more than max
// bytes of memory.
func FromProto(p *tfpb.TensorProto, max int) (*Tensor, error) {
	shape, n, err := protoShape(p, max)
	if err != nil {
		return nil, err
	}
	t := &Tensor{Type: p.GetDtype(), Shape: shape}
	content := p.GetTensorContent()
	switch t.Type {
	case tfpb.DataType_DT_FLOAT:
		t.Float32, err = protoValues(n, content, p.GetFloatVal())
	case tfpb.DataType_DT_DOUBLE:
		t.Float64, err = protoValues(n, content, p.GetDoubleVal())
	case tfpb.DataType_DT_INT32:
		t.Int32, err = protoValues(n, content, p.GetIntVal())
	case tfpb.DataType_DT_INT64:
		t.Int64, err = protoValues(n, content, p.GetInt64Val())
	case tfpb.DataType_DT_BOOL:
		t.Bool, err = protoValues(n, content, p.GetBoolVal())
	case tfpb.DataType_DT_STRING:
		t.Bytes, err = protoTexts(n, content, p.GetStringVal())
	default:
		err = fmt.Errorf("type %v is not known here, want DT_FLOAT, DT_DOUBLE, DT_INT32, DT_INT64, DT_BOOL or DT_STRING", t.Type)
	}
	return t, err
}

// protoShape returns the shape of a message and its number of values, which take up to max bytes.
func protoShape(p *tfpb.TensorProto, max int) ([]int, int, error) {
	if s := p.GetTensorShape(); s.GetUnknownRank() || len(s.GetDim()) > maxRank {
		return nil, 0, fmt.Errorf("a tensor of unknown rank or of more than %d dimensions", maxRank)
	}
	shape := dims(p.GetTensorShape())
	n, err := elements(laneOf(p.GetDtype()).size(), shape, max)
	return shape, n, err
}

// protoValues returns n values: those of content, if there are any, or of a list.
func protoValues[V any](n int, content []byte, list []V) ([]V, error) {
	if len(content) == 0 {
		return repeatLast(n, list), nil
	}
	var zero V
	size := int(unsafe.Sizeof(zero))
	if len(content) != n*size {
		return nil, fmt.Errorf("%d bytes of tensor_content for %d values, want %d", len(content), n, n*size)
	}
	first := unsafe.Pointer(&content[0])
	if _, ok := any(zero).(bool); !ok && native && uintptr(first)%uintptr(size) == 0 {
		return unsafe.Slice((*V)(first), n), nil
	}
	dst := make([]V, n) // the machine cannot read them in place; any byte but 0 is true
	_, err := binary.Decode(content, binary.LittleEndian, dst)
	return dst, err
}

// native reports whether the machine has the byte order of the files.
var native = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// repeatLast returns n values of a list. The last one repeats in a short list; an empty list means zeros.
func repeatLast[V any](n int, list []V) []V {
	if len(list) >= n {
		return list[:n:n]
	}
	dst := make([]V, n)
	for i := copy(dst, list); i < n && len(list) > 0; i++ {
		dst[i] = list[len(list)-1]
	}
	return dst
}

// protoTexts is protoValues of texts. Their content is n lengths, as varints, and then the texts.
func protoTexts(n int, content []byte, list [][]byte) ([][]byte, error) {
	if len(content) == 0 {
		return repeatLast(n, list), nil
	}
	if n > len(content) {
		return nil, fmt.Errorf("%d bytes of tensor_content for %d texts", len(content), n)
	}
	dst, sizes, rest := make([][]byte, n), make([]uint64, n), content
	for i := range sizes {
		size, used := binary.Uvarint(rest)
		if used <= 0 {
			return nil, fmt.Errorf("tensor_content ends in the lengths of %d texts", n)
		}
		sizes[i], rest = size, rest[used:]
	}
	for i, size := range sizes {
		if size > uint64(len(rest)) {
			return nil, fmt.Errorf("tensor_content ends in text %d of %d", i, n)
		}
		dst[i], rest = rest[:size:size], rest[size:]
	}
	return dst, nil
}

// Proto returns t as a message, which has the values as a list. The message refers to the values of t.
func (t *Tensor) Proto() *tfpb.TensorProto {
	shape := &tfpb.TensorShapeProto{}
	for _, d := range t.Shape {
		shape.Dim = append(shape.Dim, &tfpb.TensorShapeProto_Dim{Size: int64(d)})
	}
	return &tfpb.TensorProto{Dtype: t.Type, TensorShape: shape, FloatVal: t.Float32, DoubleVal: t.Float64,
		IntVal: t.Int32, StringVal: t.Bytes, Int64Val: t.Int64, BoolVal: t.Bool}
}
