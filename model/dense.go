package model

import (
	"ringtrain/model/internal/kernel"
	"ringtrain/model/tensor"
)

// layer is one stage of a model. A layer keeps a view of its input from forward
// to backward.
type layer interface {
	// forward returns the output for x; it is the layer's until the next call.
	forward(x tensor.Matrix) tensor.Matrix

	// backward takes the gradient with respect to the output, writes those of
	// the layer's variables, calling ready for each, last one first, and
	// returns the gradient with respect to the input if input is true. It may
	// overwrite dy.
	backward(dy tensor.Matrix, input bool, ready func(variable int)) tensor.Matrix
}

// dense is the layer y = x·kernel + bias.
//
//	x [n, in]   kernel [in, out]   bias [out]   y [n, out]
type dense struct {
	kernel, bias *Variable
	first        int // index of kernel among the model's variables; bias follows
	in, out      int

	x, y, dx tensor.Matrix
}

func newDense(name string, in, out int) *dense {
	return &dense{
		kernel: &Variable{Name: name + "/kernel", Shape: []int{in, out}},
		bias:   &Variable{Name: name + "/bias", Shape: []int{out}},
		in:     in, out: out,
	}
}

func (d *dense) forward(x tensor.Matrix) tensor.Matrix {
	d.x = x
	d.y.Resize(x.Rows, d.out)
	kernel.Gemm(d.y.Data, x.Data, d.kernel.Value, d.bias.Value, x.Rows, d.out, d.in)
	return d.y
}

// backward: dbias = Σ rows of dy, dkernel = xᵀ·dy, dx = dy·kernelᵀ.
func (d *dense) backward(dy tensor.Matrix, input bool, ready func(variable int)) tensor.Matrix {
	sumRows(d.bias.Grad, dy)
	ready(d.first + 1)
	kernel.GemmTA(d.kernel.Grad, d.x.Data, dy.Data, d.in, d.out, dy.Rows)
	ready(d.first)
	if !input {
		return tensor.Matrix{}
	}
	d.dx.Resize(dy.Rows, d.in)
	kernel.GemmTB(d.dx.Data, dy.Data, d.kernel.Value, dy.Rows, d.in, d.out)
	return d.dx
}

// sumRows replaces dst by the sum of m's rows, in their order.
func sumRows(dst []float32, m tensor.Matrix) {
	clear(dst)
	for i := range m.Rows {
		for j, v := range m.Row(i) {
			dst[j] += v
		}
	}
}
