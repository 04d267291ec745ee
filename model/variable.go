package model

import "ringtrain/model/graph"

// Variable is a trainable tensor. Value and Grad are row-major views into the
// worker's arenas: whoever builds the training loop places them before the
// first Forward.
type Variable struct {
	Name  string // as TensorFlow names it: "softmax/kernel"
	Shape []int
	Value []float32
	Grad  []float32

	// Decay says that penalties on weights hold for it: it is no bias, gamma or beta.
	Decay bool

	// ByRows says that a batch touches few rows: Grad is zero but for the rows
	// of the batch's ids, and the optimizer updates only those of the global
	// batch.
	ByRows bool
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

func newVariable(v graph.VarSpec) *Variable {
	return &Variable{Name: v.Name, Shape: v.Shape, ByRows: v.ByRows, Decay: v.Decay}
}
