package bundle

import "fmt"

// DType is the type of a tensor's elements, numbered as TensorFlow does.
type DType int32

// The types that a bundle can hold.
const (
	DTFloat32    DType = 1
	DTFloat64    DType = 2
	DTInt32      DType = 3
	DTUint8      DType = 4
	DTInt16      DType = 5
	DTInt8       DType = 6
	DTString     DType = 7
	DTComplex64  DType = 8
	DTInt64      DType = 9
	DTBool       DType = 10
	DTBfloat16   DType = 14
	DTUint16     DType = 17
	DTComplex128 DType = 18
	DTFloat16    DType = 19
	DTUint32     DType = 22
	DTUint64     DType = 23
)

// types has the name and the bytes of one element of each type. 0: elements differ in
// length.
var types = map[DType]struct {
	name string
	size int
}{
	DTFloat32: {"float32", 4}, DTFloat64: {"float64", 8}, DTInt32: {"int32", 4}, DTUint8: {"uint8", 1},
	DTInt16: {"int16", 2}, DTInt8: {"int8", 1}, DTString: {"string", 0}, DTComplex64: {"complex64", 8},
	DTInt64: {"int64", 8}, DTBool: {"bool", 1}, DTBfloat16: {"bfloat16", 2}, DTUint16: {"uint16", 2},
	DTComplex128: {"complex128", 16}, DTFloat16: {"float16", 2}, DTUint32: {"uint32", 4}, DTUint64: {"uint64", 8},
}

// Size returns the bytes of one element. It returns 0 for DTString, whose elements
// differ in length, and for types that a bundle cannot hold.
func (d DType) Size() int { return types[d].size }

// String returns the type's name as NumPy and TensorFlow spell it.
func (d DType) String() string {
	if !d.known() {
		return fmt.Sprintf("type %d", int32(d))
	}
	return types[d].name
}

// known reports whether a bundle can hold elements of type d.
func (d DType) known() bool { return types[d].name != "" }
