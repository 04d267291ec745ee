package model

import "ringtrain/model/tensor"

// relu is the layer y = max(x, 0), which works in place: on the output of the
// layer before it and on the gradient of the one behind it. At 0 its derivative
// is 0, as in TensorFlow.
type relu struct{ y tensor.Matrix }

func (r *relu) forward(x tensor.Matrix) tensor.Matrix {
	for i, v := range x.Data {
		if v <= 0 { // not !(v > 0): NaN stays
			x.Data[i] = 0
		}
	}
	r.y = x
	return x
}

func (r *relu) backward(dy tensor.Matrix, _ bool, _ func(int)) tensor.Matrix {
	for i, v := range r.y.Data {
		if v <= 0 {
			dy.Data[i] = 0
		}
	}
	return dy
}
