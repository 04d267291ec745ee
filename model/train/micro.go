package train

import (
	"ringtrain/input"
	"ringtrain/model/tensor"
)

// micro is what a share of a global batch needs to be computed in parts:
//
//	share   ┌──────────┬──────────┬─────────┐   k = 3
//	        │  part 0  │  part 1  │  part 2 │   Forward and Backward of each, in turn
//	        └──────────┴──────────┴─────────┘
//	Grad     =          +=         +=  ready ──► one all-reduce
//
// A part has a k-th of the memory for what layers keep from forward to backward. The
// weights of examples are those of the whole global batch, so the sum of the parts'
// gradients is that of the share within rounding.
type micro struct {
	x      tensor.Features // a view of the part's
	losses []float64       // of the share
}

// early stands for ready in all parts but the last: their gradients are not complete.
func early(int) {}

// computeParts is compute in l.Parts parts. The last one's gradients leave for the others.
func (l *Loop) computeParts(b *input.Batch, weight []float32, ready func(variable int)) {
	m, n, sum := &l.micro, len(b.Y), 0.0
	m.losses = m.losses[:0]
	parts, layer := max(1, min(l.Parts, n)), int32(0)
	for part := range parts {
		from, to := part*n/parts, (part+1)*n/parts
		m.view(&b.X, from, to)
		l.Model.Step(l.Seed, l.Step, int64(b.First+from))
		l.Model.Accumulate(part > 0)
		loss := l.Weights.loss(l.Model.Forward(&m.x, b.Y[from:to]), l.Model, b.Y[from:to])
		l.see(b, from)
		if sum += loss; layer == 0 {
			layer = l.badLayer(loss)
		}
		m.losses = append(m.losses, l.Model.Losses()...)
		done := early
		if part == parts-1 {
			l.Reducer.Report(l.tail(sum, m.losses, layer, b))
			done = ready
		}
		l.Model.Backward(weight[from:to], done)
	}
	l.Model.Accumulate(false)
}

// view makes m.x the examples [from, to) of x.
func (m *micro) view(x *tensor.Features, from, to int) {
	m.x.Dense.Rows, m.x.Dense.Cols = to-from, x.Dense.Cols
	m.x.Dense.Data = x.Dense.Data[from*x.Dense.Cols : to*x.Dense.Cols]
	m.x.Bags = x.Bags.Part(from, to)
}
