package train

import (
	"ringtrain/input"
	"ringtrain/model"
)

// classWeights multiply the weights of examples by what their class counts. The mean
// divides by the number of examples all the same, and the loss that is printed is
// weighted, both as in Keras. Evaluations are without weights.
type classWeights struct {
	of      []float32 // by class; nil: all count 1
	weights []float32 // of the batch
}

func newClassWeights(of []float64) classWeights {
	var c classWeights
	for _, w := range of {
		c.of = append(c.of, float32(w))
	}
	return c
}

// batch returns what each example's loss counts in the gradient.
func (c *classWeights) batch(b *input.Batch) []float32 {
	if c.of == nil {
		return b.Weight
	}
	c.weights = c.weights[:0]
	for i, w := range b.Weight {
		c.weights = append(c.weights, w*c.of[int(b.Y[i])])
	}
	return c.weights
}

// loss returns the sum of the examples' losses, which is sum if all count 1.
func (c *classWeights) loss(sum float64, m *model.Model, y []float32) float64 {
	if c.of == nil {
		return sum
	}
	sum = 0
	for i, l := range m.Losses() {
		sum += l * float64(c.of[int(y[i])])
	}
	return sum
}
