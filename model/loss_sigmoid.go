package model

import (
	"math"

	"ringtrain/model/tensor"
)

// sigmoid is the cross-entropy of one logit z against a label y of 0 or 1. The
// score is the probability p = 1/(1+exp(−z)), and the loss is
//
//	max(z, 0) − z·y + log(1 + exp(−|z|))
//
// which neither overflows nor loses digits for large |z|, as in TensorFlow's
// sigmoid_cross_entropy_with_logits. It is computed in float64.
type sigmoid struct{}

func (sigmoid) forward(scores, z tensor.Matrix, losses []float64, y []float32) {
	for i, v := range z.Data {
		scores.Data[i] = float32(1 / (1 + math.Exp(-float64(v))))
	}
	for i := range losses {
		v := float64(z.Data[i])
		losses[i] = max(v, 0) - float64(v*float64(y[i])) + math.Log1p(math.Exp(-math.Abs(v)))
	}
}

// backward: d/dz = (p−y)·weight.
func (sigmoid) backward(dz, scores tensor.Matrix, y, weight []float32) {
	for i, w := range weight {
		dz.Data[i] = (scores.Data[i] - y[i]) * w
	}
}
