package interpreter

import (
	"fmt"
	"math/bits"
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
	t.lane().append(t, more)
}

// clone returns a tensor that shares no memory with t.
func (t *Tensor) clone() *Tensor {
	c := &Tensor{Type: t.Type, Shape: append([]int{}, t.Shape...), resource: t.resource}
	t.lane().append(c, t)
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

// length returns the number of values that t has.
func (t *Tensor) length() int { return t.lane().length(t) }

// zero sets all values to 0, false or the empty string.
func (t *Tensor) zero() { t.lane().zero(t) }

// integer returns value i of a tensor of integers.
func (t *Tensor) integer(i int) int {
	if t.Type == tfpb.DataType_DT_INT32 {
		return int(t.Int32[i])
	}
	return int(t.Int64[i])
}

// put sets value i of a tensor of integers.
func (t *Tensor) put(i, v int) {
	if t.Type == tfpb.DataType_DT_INT32 {
		t.Int32[i] = int32(v)
	} else {
		t.Int64[i] = int64(v)
	}
}

// like reports whether a shape is one of those that a pattern means.
func like(shape, pattern []int) bool {
	return pattern == nil || slices.EqualFunc(shape, pattern, func(have, want int) bool { return want < 0 || have == want })
}

// elements returns the number of values of a shape, of size bytes each, or an error if they take more than most bytes.
func elements(size int, shape []int, most int) (int, error) {
	n, bytes := 1, uint64(size)
	for _, d := range shape {
		if d < 0 {
			return 0, fmt.Errorf("a tensor of shape %v has a negative size", slices.Clone(shape))
		}
		over, product := bits.Mul64(bytes, uint64(d))
		if over > 0 || product > uint64(most) {
			return 0, fmt.Errorf("a tensor of shape %v takes more than %d bytes", slices.Clone(shape), most) // the clone keeps shape off the heap
		}
		n, bytes = n*d, product
	}
	return n, nil
}
