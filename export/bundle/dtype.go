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

// Size returns the bytes of one element. It returns 0 for DTString, whose elements
// differ in length, and for types that a bundle cannot hold.
func (d DType) Size() int {
	switch d {
	case DTUint8, DTInt8, DTBool:
		return 1
	case DTInt16, DTBfloat16, DTUint16, DTFloat16:
		return 2
	case DTFloat32, DTInt32, DTUint32:
		return 4
	case DTFloat64, DTComplex64, DTInt64, DTUint64:
		return 8
	case DTComplex128:
		return 16
	}
	return 0
}

// String returns the type's name as NumPy and TensorFlow spell it.
func (d DType) String() string {
	names := [...]string{
		DTFloat32: "float32", DTFloat64: "float64", DTInt32: "int32", DTUint8: "uint8",
		DTInt16: "int16", DTInt8: "int8", DTString: "string", DTComplex64: "complex64",
		DTInt64: "int64", DTBool: "bool", DTBfloat16: "bfloat16", DTUint16: "uint16",
		DTComplex128: "complex128", DTFloat16: "float16", DTUint32: "uint32", DTUint64: "uint64",
	}
	if d < 0 || int(d) >= len(names) || names[d] == "" {
		return fmt.Sprintf("type %d", int32(d))
	}
	return names[d]
}

// known reports whether a bundle can hold elements of type d.
func (d DType) known() bool { return d == DTString || d.Size() > 0 }
