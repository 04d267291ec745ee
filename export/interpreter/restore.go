package interpreter

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"ringtrain/export/bundle"
	"ringtrain/export/tfpb"
)

// runRestore hands out the tensors of the files, mapped.
func runRestore(c *call) error {
	store := c.frame.store
	prefix, names, slicing := c.in[0].Bytes, c.in[1].Bytes, c.in[2].Bytes
	if store.variables == nil || len(prefix) != 1 || string(prefix[0]) != store.prefix {
		return errors.New("restores other files than the variables of the model")
	}
	types := c.node.attrs["dtypes"].GetList().GetType()
	if len(names) != len(types) || len(slicing) != len(types) {
		return fmt.Errorf("%d names and %d slices, want %d", len(names), len(slicing), len(types))
	}
	for i, name := range names {
		if len(slicing[i]) > 0 {
			return fmt.Errorf("%s: slices of tensors are not known here", name)
		}
		t, err := store.restored(string(name))
		if err != nil {
			return err
		}
		if t.Type != types[i] {
			return fmt.Errorf("tensor %s has type %v, want %v", name, t.Type, types[i])
		}
		*c.out[i] = *t
	}
	return nil
}

// restored returns a tensor of the files.
func (s *store) restored(name string) (*Tensor, error) {
	b, err := s.variables.Map(name)
	if err != nil {
		return nil, err
	}
	t := &Tensor{Type: tfpb.DataType(b.DType), Shape: make([]int, len(b.Shape))}
	for i, d := range b.Shape {
		t.Shape[i] = int(d)
	}
	n := Elements(t.Shape)
	switch b.DType {
	case bundle.DTFloat32:
		t.Float32, err = view[float32](b.Data, n)
	case bundle.DTFloat64:
		t.Float64, err = view[float64](b.Data, n)
	case bundle.DTInt32:
		t.Int32, err = view[int32](b.Data, n)
	case bundle.DTInt64:
		t.Int64, err = view[int64](b.Data, n)
	case bundle.DTBool:
		t.Bool = booleans(b.Data)
	case bundle.DTString:
		t.Bytes = make([][]byte, n)
		for i, text := range b.Strings {
			t.Bytes[i] = []byte(text)
		}
	default:
		err = fmt.Errorf("type %v is not known here", b.DType)
	}
	if err != nil {
		return nil, fmt.Errorf("tensor %s: %w", name, err)
	}
	s.mapped += len(b.Data)
	return t, nil
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
