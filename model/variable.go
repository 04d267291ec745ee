package model

import (
	"ringtrain/model/internal/pages"
	"ringtrain/model/kernel"
)

// Variable is a trainable tensor. Value and Grad are row-major. The caller of the model
// sets them before the first Forward.
type Variable struct {
	Name  string // TensorFlow's name, such as "softmax/kernel"
	Shape []int
	Value []float32
	Grad  []float32

	// Decay reports whether penalties on weights apply: the variable is no bias, gamma
	// or beta.
	Decay bool

	// ByRows reports whether the variable is a table of which a batch uses few rows,
	// those of its distinct ids. Its gradient is RowGrad; Grad is unused.
	ByRows bool

	// RowGrad is the gradient of the used rows. The gradient of the batch's k-th
	// distinct id begins at element k·RowStride and has RowLen elements. Backward adds
	// to it. Tables over the same ids share the memory: their rows are side by side.
	RowGrad   []float32
	RowStride int

	memory *pages.Floats // of Value, of a variable by rows
}

// zero sets all values to 0.
func (v *Variable) zero() {
	if v.memory != nil {
		v.memory.Clear()
		return
	}
	clear(v.Value)
}

// rows returns the value of a variable by rows as a kernel.Table.
func (v *Variable) rows() kernel.Table {
	return kernel.Table{Data: v.Value, Width: v.RowLen(), Stride: v.RowLen()}
}

// rowGrad returns the gradient of a variable by rows, by the batch's distinct ids.
func (v *Variable) rowGrad() kernel.Table {
	return kernel.Table{Data: v.RowGrad, Width: v.RowLen(), Stride: v.RowStride}
}

// Len returns the number of elements of the variable's shape.
func (v *Variable) Len() int {
	n := 1
	for _, d := range v.Shape {
		n *= d
	}
	return n
}

// RowLen returns the number of elements of a row.
func (v *Variable) RowLen() int {
	if len(v.Shape) == 0 || v.Shape[0] == 0 {
		return 0
	}
	return v.Len() / v.Shape[0]
}

// AllocateAll places the values of vars in one new arena. It places the values of each variable
// by rows, which may be large, in zeroed memory of its own that the system provides at first access.
func AllocateAll(vars []*Variable) {
	n := 0
	for _, v := range vars {
		if !v.ByRows {
			n += v.Len()
		}
	}
	arena := make([]float32, n)
	for _, v := range vars {
		if v.ByRows {
			v.memory = pages.Make(v.Len())
			v.Value = v.memory.Values
			continue
		}
		v.Value, arena = arena[:v.Len():v.Len()], arena[v.Len():]
	}
}
