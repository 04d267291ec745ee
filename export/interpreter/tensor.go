package interpreter

import "ringtrain/export/tfpb"

// Tensor is an array of one type in row-major order. The slice of its type has the values; the others are nil.
type Tensor struct {
	Type  tfpb.DataType
	Shape []int // empty of a scalar

	Float32 []float32
	Float64 []float64
	Int32   []int32
	Int64   []int64
	Bool    []bool
	Bytes   [][]byte // DT_STRING

	resource any // what a DT_RESOURCE refers to: a variable, a table
}

// Elements returns the number of values that a shape has; it does not overflow for a shape that was checked.
func Elements(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
