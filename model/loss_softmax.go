package model

import (
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// softmax is the cross-entropy of K classes. The scores are the probabilities, the
// labels are classes 0 to K−1. With smoothing s the target of class j is (1−s)·[j =
// label] + s/K. [kernel.Engine.Softmax] has the formulas and their bounds.
type softmax struct{ smoothing float32 }

func (s softmax) forward(e *kernel.Engine, scores, z tensor.Matrix, losses []float64, y []float32) {
	if z.Rows > 0 {
		e.Softmax(scores.Data, losses, z.Data, y, z.Cols, s.smoothing)
	}
}

// backward: d/dz[j] = (p[j] − target[j])·weight.
func (s softmax) backward(e *kernel.Engine, dz, scores tensor.Matrix, y, weight []float32) {
	if dz.Rows > 0 {
		e.SoftmaxGrad(dz.Data, scores.Data, y, weight, dz.Cols, s.smoothing)
	}
}
