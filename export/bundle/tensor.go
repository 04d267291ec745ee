package bundle

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"ringtrain/ring/exitcode"
)

// Tensor is a named value of a bundle.
type Tensor struct {
	Name    string
	DType   DType
	Shape   []int64  // empty for a scalar
	Data    []byte   // the elements, little-endian and row-major; nil for DTString
	Strings []string // the elements of a DTString, row-major
}

// Float32 returns a tensor of values. On a little-endian machine the tensor is a view of
// values, which saves a copy of large tables: the caller must not change values while
// the tensor is in use. Float32 panics if the number of values differs from the shape.
func Float32(name string, shape []int, values []float32) Tensor {
	t := Tensor{Name: name, DType: DTFloat32, Data: littleEndian(values)}
	n := 1
	for _, d := range shape {
		t.Shape = append(t.Shape, int64(d))
		n *= d
	}
	if n != len(values) {
		panic("bundle: number of values differs from the shape")
	}
	return t
}

// littleEndian returns values as little-endian bytes: a view if the machine is
// little-endian, else a copy.
func littleEndian(values []float32) []byte {
	if len(values) == 0 {
		return []byte{}
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		return unsafe.Slice((*byte)(unsafe.Pointer(&values[0])), 4*len(values))
	}
	data := make([]byte, 0, 4*len(values))
	for _, v := range values {
		data = binary.LittleEndian.AppendUint32(data, math.Float32bits(v))
	}
	return data
}

// Int64 returns an int64 scalar.
func Int64(name string, v int64) Tensor {
	return Tensor{Name: name, DType: DTInt64, Data: binary.LittleEndian.AppendUint64(nil, uint64(v))}
}

// String returns a string scalar, which may hold any bytes.
func String(name, s string) Tensor {
	return Tensor{Name: name, DType: DTString, Strings: []string{s}}
}

// Float32s returns the elements of a float32 tensor, row-major. The error has
// [exitcode.BadData] if the tensor has another type.
func (t Tensor) Float32s() ([]float32, error) {
	values := make([]float32, len(t.Data)/4)
	return values, t.Decode(values)
}

// Decode writes the elements to values. The error has [exitcode.BadData] if type or
// number differ.
func (t Tensor) Decode(values []float32) error {
	if t.DType != DTFloat32 {
		return t.unlike("float32")
	}
	if len(t.Data) != 4*len(values) {
		return exitcode.With(exitcode.BadData, fmt.Errorf("%s has %d bytes, want %d", t.Name, len(t.Data), 4*len(values)))
	}
	for i := range values {
		values[i] = math.Float32frombits(binary.LittleEndian.Uint32(t.Data[4*i:]))
	}
	return nil
}

// Int64 returns the value of an int64 or int32 scalar: TensorFlow programs store their
// global step as either. The error has [exitcode.BadData] if the tensor has another type
// or shape.
func (t Tensor) Int64() (int64, error) {
	switch {
	case len(t.Shape) != 0:
	case t.DType == DTInt64:
		return int64(binary.LittleEndian.Uint64(t.Data)), nil
	case t.DType == DTInt32:
		return int64(int32(binary.LittleEndian.Uint32(t.Data))), nil
	}
	return 0, t.unlike("an int64 scalar")
}

// Text returns the value of a string scalar. The error has [exitcode.BadData] if the
// tensor has another type or shape.
func (t Tensor) Text() (string, error) {
	if t.DType != DTString || len(t.Shape) != 0 {
		return "", t.unlike("a string scalar")
	}
	return t.Strings[0], nil
}

func (t Tensor) unlike(want string) error {
	return exitcode.With(exitcode.BadData, fmt.Errorf("tensor %s is %v %v, want %s", t.Name, t.DType, t.Shape, want))
}

// check panics if t is incomplete.
func (t Tensor) check() {
	if t.Name == "" || len(t.Name) > maxName || t.Name[0] == 0 {
		panic("bundle: a tensor's name is empty, too long or begins with a zero byte")
	}
	if !t.DType.known() {
		panic("bundle: a tensor has no type")
	}
	for _, d := range t.Shape {
		if d < 0 {
			panic("bundle: a tensor's dimension is negative")
		}
	}
	n, ok := elements(t.Shape)
	have := int64(len(t.Strings))
	if t.DType != DTString {
		size := int64(t.DType.Size())
		have = int64(len(t.Data)) / size
		ok = ok && int64(len(t.Data))%size == 0
	}
	if !ok || have != n {
		panic("bundle: a tensor's data differs from its shape")
	}
}
