package model

import (
	"math"

	"ringtrain/model/tensor"
)

// softmax is the cross-entropy of K classes. The scores are the probabilities
//
//	p[j] = exp(z[j]−m) / s      m = max z,  s = Σ exp(z[j]−m)
//
// and the loss of class c is log s − (z[c]−m), which stays exact where p[c] is
// too small for float32. Sums run in float64. Labels are classes 0 to K−1.
type softmax struct{}

func (softmax) forward(scores, z tensor.Matrix, losses []float64, y []float32) {
	for i := range z.Rows {
		row := z.Row(i)
		top, sum := probabilities(scores.Row(i), row)
		if losses != nil {
			losses[i] = math.Log(sum) - (float64(row[class(y[i], z.Cols)]) - top)
		}
	}
}

// probabilities writes softmax(z) into p and returns the largest z and the sum
// of exp(z[j]−top).
func probabilities(p, z []float32) (top, sum float64) {
	largest := z[0]
	for _, v := range z {
		largest = max(largest, v)
	}
	top = float64(largest)
	for j, v := range z {
		e := math.Exp(float64(v) - top)
		p[j] = float32(e)
		sum += e
	}
	for j, e := range p {
		p[j] = float32(float64(e) / sum)
	}
	return top, sum
}

// class is a label as an index. The input has checked the labels.
func class(label float32, classes int) int {
	c := int(label)
	if c < 0 || c >= classes || float32(c) != label {
		panic("model: label is not a class")
	}
	return c
}

// backward: d/dz[j] = (p[j] − [j = c])·weight.
func (softmax) backward(dz, scores tensor.Matrix, y, weight []float32) {
	for i, w := range weight {
		p, d := scores.Row(i), dz.Row(i)
		for j, v := range p {
			d[j] = v * w
		}
		c := class(y[i], len(p))
		d[c] = (p[c] - 1) * w
	}
}
