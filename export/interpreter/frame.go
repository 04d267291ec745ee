package interpreter

import (
	"fmt"
	"slices"

	"ringtrain/export/tfpb"
	"ringtrain/model/kernel"
)

// Limits of memory: of a tensor that a run makes or of the constants of a graph, and of all that a
// run makes.
const (
	maxBytes    = 1 << 30
	maxRunBytes = 4 << 30
)

// frame is what the calls of a run have in common.
type frame struct {
	store  *store
	engine *kernel.Engine
	once   bool // the frame runs once: a variable may keep its tensors
	bytes  int  // made in this run
}

// resource returns the variable or table of the model with a key. The first call makes it.
func (f *frame) resource(key string, create func() any) any { return f.store.resource(key, create) }

// reserve returns the number of values of a tensor, or an error if it may not be so large.
func (f *frame) reserve(t tfpb.DataType, shape []int) (int, error) {
	n, err := elements(t, shape, maxBytes)
	if err != nil {
		return 0, err
	}
	if f.bytes += n * sizeOf(t); f.bytes > f.store.most.run {
		return 0, fmt.Errorf("the run takes more than %d bytes", f.store.most.run)
	}
	return n, nil
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
