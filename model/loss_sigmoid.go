package model

import (
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// sigmoid is the cross-entropy of one logit with a label of 0 or 1. The score is the
// probability of class 1. With smoothing s the target is (1−s)·label + s/2.
// [kernel.Engine.Binary] has the formulas and their bounds.
type sigmoid struct{ smoothing float32 }

func (s sigmoid) forward(e *kernel.Engine, scores, z tensor.Matrix, losses []float64, y []float32) {
	e.Binary(scores.Data, losses, z.Data, y, s.smoothing)
}

// backward: d/dz = (p − target)·weight.
func (s sigmoid) backward(e *kernel.Engine, dz, scores tensor.Matrix, y, weight []float32) {
	e.BinaryGrad(dz.Data, scores.Data, y, weight, s.smoothing)
}
