package train

import (
	"ringtrain/input"
	"ringtrain/model"
	"ringtrain/model/tensor"
)

// partition holds the buffers for a share that is computed in parts:
//
//	share   ┌──────────┬──────────┬─────────┐   k = 3
//	        │  part 0  │  part 1  │  part 2 │   Forward and Backward of each, in turn
//	        └──────────┴──────────┴─────────┘
//	Grad     =          +=         +=  ready ──► one all-reduce
//
// The layers need only a k-th of the memory between forward and backward. The weights of examples are
// those of the whole global batch, so the sum of the parts' gradients is that of the share within
// rounding.
type partition struct {
	x      tensor.Features // view of the current part
	losses []float64       // of the share
}

// compute runs the model over this rank's share of a global batch, in l.Parts parts. Full buckets are
// sent during backward of the last part: the gradients of the others are incomplete.
func (l *Loop) compute(b *input.Batch, ready func(variable int)) {
	weight := l.Weights.batch(b)
	m, n, sum := &l.partition, len(b.Y), 0.0
	m.losses = m.losses[:0]
	parts, layer := max(1, min(l.Parts, n)), int32(0)
	for part := range parts {
		from, to := part*n/parts, (part+1)*n/parts
		m.view(&b.X, from, to)
		l.Model.Step(l.Seed, l.Step, int64(b.First+from))
		l.Model.Accumulate(part > 0)
		loss := l.Weights.loss(l.Model.Forward(&m.x, b.Y[from:to]), l.Model, b.Y[from:to])
		if l.OnScores != nil {
			l.OnScores(l.Model.Scores(), b, from)
		}
		sum += loss
		if layer == 0 {
			layer = l.nonFiniteLayer(loss)
		}
		m.losses = append(m.losses, l.Model.Losses()...)
		done := func(int) {}
		if part == parts-1 {
			l.Reducer.Report(l.tail(sum, m.losses, layer, b))
			done = ready
		}
		l.Model.Backward(weight[from:to], done)
	}
	l.Model.Accumulate(false)
}

// view sets p.x to the examples [from, to) of x.
func (p *partition) view(x *tensor.Features, from, to int) {
	p.x.Dense.Rows, p.x.Dense.Cols = to-from, x.Dense.Cols
	p.x.Dense.Data = x.Dense.Data[from*x.Dense.Cols : to*x.Dense.Cols]
	p.x.Bags = x.Bags.Part(from, to)
}

// classWeights multiply the weights of examples by the weight of their class. As in Keras the mean
// still divides by the number of examples, and the printed loss is weighted. Evaluations use no
// weights.
type classWeights struct {
	of      []float32 // by class; nil: all weights are 1
	weights []float32 // of the batch
}

func newClassWeights(of []float64) classWeights {
	var c classWeights
	for _, w := range of {
		c.of = append(c.of, float32(w))
	}
	return c
}

// batch returns the weight of each example's loss in the gradient.
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

// loss returns the sum of the examples' losses, which is sum if all weights are 1.
func (c *classWeights) loss(sum float64, m *model.Model, y []float32) float64 {
	if c.of == nil {
		return sum
	}
	sum = 0
	for i, l := range m.Losses() {
		sum += float64(l * float64(c.of[int(y[i])])) // rounded, on every architecture alike
	}
	return sum
}
