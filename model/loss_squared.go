package model

import (
	"ringtrain/model/kernel"
	"ringtrain/model/tensor"
)

// squared is the loss (ŷ−y)² of one output, without the factor ½ of some libraries (as
// TensorFlow's tf.losses.mean_squared_error). The score is ŷ.
type squared struct{}

func (squared) forward(_ *kernel.Engine, scores, z tensor.Matrix, losses []float64, y []float32) {
	copy(scores.Data, z.Data)
	for i := range losses {
		d := float64(z.Data[i]) - float64(y[i])
		losses[i] = d * d
	}
}

// backward: d/dz = 2·(z−y)·weight.
func (squared) backward(_ *kernel.Engine, dz, scores tensor.Matrix, y, weight []float32) {
	for i, w := range weight {
		dz.Data[i] = 2 * (scores.Data[i] - y[i]) * w
	}
}
