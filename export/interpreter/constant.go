package interpreter

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"ringtrain/export/tfpb"
)

// constant returns the value of a proto. The values may be a view of the proto.
func (m *Model) constant(p *tfpb.TensorProto) (*Tensor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if t := m.constants[p]; t != nil {
		return t, nil
	}
	t, err := decode(p, m.left)
	if err != nil {
		return nil, err
	}
	m.left -= Elements(t.Shape) * sizeOf(t.Type)
	m.constants[p] = t
	return t, nil
}

// Decode returns the value of a proto, which may take up to 1 GiB. The values may be a view of the proto.
func Decode(p *tfpb.TensorProto) (*Tensor, error) { return decode(p, maxBytes) }

func decode(p *tfpb.TensorProto, most int) (*Tensor, error) {
	t := &Tensor{Type: p.GetDtype(), Shape: dims(p.GetTensorShape())}
	if p.GetTensorShape().GetUnknownRank() {
		return nil, fmt.Errorf("a constant has no shape")
	}
	n, err := elements(t.Type, t.Shape)
	if err != nil {
		return nil, err
	}
	if n*sizeOf(t.Type) > most {
		return nil, fmt.Errorf("a constant of shape %v takes more than the %d bytes that are left", t.Shape, most)
	}
	c := p.GetTensorContent()
	switch t.Type {
	case tfpb.DataType_DT_FLOAT:
		t.Float32, err = values(c, p.GetFloatVal(), n)
	case tfpb.DataType_DT_DOUBLE:
		t.Float64, err = values(c, p.GetDoubleVal(), n)
	case tfpb.DataType_DT_INT32:
		t.Int32, err = values(c, p.GetIntVal(), n)
	case tfpb.DataType_DT_INT64:
		t.Int64, err = values(c, p.GetInt64Val(), n)
	case tfpb.DataType_DT_BOOL:
		if t.Bool = p.GetBoolVal(); len(c) > 0 {
			t.Bool = booleans(c)
		}
		t.Bool, err = values(nil, t.Bool, n)
	case tfpb.DataType_DT_STRING:
		t.Bytes, err = values(nil, p.GetStringVal(), n)
	default:
		return nil, fmt.Errorf("a constant has type %v, which is not known here", t.Type)
	}
	return t, err
}

// values returns n values: those of content, or those of list, of which the last one is repeated.
func values[T any](content []byte, list []T, n int) ([]T, error) {
	if len(content) > 0 {
		return view[T](content, n)
	}
	if len(list) > n {
		return nil, fmt.Errorf("a constant has %d values, want %d", len(list), n)
	}
	if len(list) == n {
		return list, nil
	}
	all := make([]T, n) // without any value they are zero
	for i := copy(all, list); i < n && len(list) > 0; i++ {
		all[i] = list[len(list)-1]
	}
	return all, nil
}

// view returns n values out of bytes that are little-endian. It copies them only where the machine
// could not read them in place.
func view[T any](data []byte, n int) ([]T, error) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if len(data) != n*size {
		return nil, fmt.Errorf("%d values take %d bytes, want %d", n, len(data), n*size)
	}
	if n == 0 {
		return []T{}, nil
	}
	first := unsafe.Pointer(&data[0])
	if native && uintptr(first)%uintptr(size) == 0 {
		return unsafe.Slice((*T)(first), n), nil
	}
	all := make([]T, n)
	_, err := binary.Decode(data, binary.LittleEndian, all)
	return all, err
}

// native reports whether the machine has the byte order of the files.
var native = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// booleans returns values that are a byte each.
func booleans(data []byte) []bool {
	all := make([]bool, len(data))
	for i, b := range data {
		all[i] = b != 0
	}
	return all
}
