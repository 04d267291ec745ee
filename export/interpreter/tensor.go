package interpreter

import (
	"slices"

	"ringtrain/export/tfpb"
)

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

// Append appends the records of another tensor of the type of t, and of its shape but for the first dimension.
func (t *Tensor) Append(more *Tensor) {
	t.Shape[0] += more.Shape[0]
	t.Float32 = append(t.Float32, more.Float32...)
	t.Float64 = append(t.Float64, more.Float64...)
	t.Int32 = append(t.Int32, more.Int32...)
	t.Int64 = append(t.Int64, more.Int64...)
	t.Bool = append(t.Bool, more.Bool...)
	t.Bytes = append(t.Bytes, more.Bytes...)
}

// length returns the number of values that t has.
func (t *Tensor) length() int {
	return len(t.Float32) + len(t.Float64) + len(t.Int32) + len(t.Int64) + len(t.Bool) + len(t.Bytes)
}

// clone returns a tensor that shares no memory with t.
func (t *Tensor) clone() *Tensor {
	c := &Tensor{
		Type: t.Type, Shape: append([]int{}, t.Shape...), resource: t.resource,
		Float32: slices.Clone(t.Float32), Float64: slices.Clone(t.Float64), Int32: slices.Clone(t.Int32),
		Int64: slices.Clone(t.Int64), Bool: slices.Clone(t.Bool), Bytes: slices.Clone(t.Bytes),
	}
	size := 0
	for _, b := range t.Bytes {
		size += len(b)
	}
	text := make([]byte, 0, size)
	for i, b := range c.Bytes {
		text = append(text, b...)
		c.Bytes[i] = text[len(text)-len(b) : len(text) : len(text)]
	}
	return c
}
