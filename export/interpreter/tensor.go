package interpreter

import (
	"fmt"
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

// like reports whether a shape is one of those that a pattern means.
func like(shape, pattern []int) bool {
	return pattern == nil || slices.EqualFunc(shape, pattern, func(have, want int) bool { return want < 0 || have == want })
}

// elements returns the number of values of a shape, or an error if they take more than most bytes.
func elements(t tfpb.DataType, shape []int, most int) (int, error) {
	n, values := 1, most/sizeOf(t)
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("a tensor of shape %v has a negative size", slices.Clone(shape))
		}
		if d > 0 && n > values/d {
			return 0, fmt.Errorf("a tensor of shape %v takes more than %d bytes", slices.Clone(shape), most) // the clone keeps shape off the heap
		}
		n *= d
	}
	return n, nil
}

// sizeOf returns the bytes that a value of a type takes in memory.
func sizeOf(t tfpb.DataType) int {
	switch t {
	case tfpb.DataType_DT_BOOL:
		return 1
	case tfpb.DataType_DT_FLOAT, tfpb.DataType_DT_INT32:
		return 4
	case tfpb.DataType_DT_STRING:
		return 24
	}
	return 8
}

// resize makes t a tensor of n values. The memory of the values is kept where it is large enough.
func (t *Tensor) resize(typ tfpb.DataType, shape []int, n int) {
	t.Type = typ
	t.Shape = append(t.Shape[:0], shape...)
	switch typ {
	case tfpb.DataType_DT_FLOAT:
		t.Float32 = slices.Grow(t.Float32[:0], n)[:n]
	case tfpb.DataType_DT_DOUBLE:
		t.Float64 = slices.Grow(t.Float64[:0], n)[:n]
	case tfpb.DataType_DT_INT32:
		t.Int32 = slices.Grow(t.Int32[:0], n)[:n]
	case tfpb.DataType_DT_INT64:
		t.Int64 = slices.Grow(t.Int64[:0], n)[:n]
	case tfpb.DataType_DT_BOOL:
		t.Bool = slices.Grow(t.Bool[:0], n)[:n]
	case tfpb.DataType_DT_STRING:
		t.Bytes = slices.Grow(t.Bytes[:0], n)[:n]
	}
}
