package evaluate

import (
	"math"

	"ringtrain/model"
)

// spread is the mean of labels and the sum of the squared differences from it, each times its weight.
type spread struct{ mean, squares float64 }

// spreadOf returns the spread of labels; weights nil means 1.
func spreadOf(y, weights []float32) (s spread) {
	sum := 0.0
	for i, label := range y {
		w := 1.0
		if weights != nil {
			w = float64(weights[i])
		}
		if w == 0 {
			continue
		}
		sum += w
		d := float64(label) - s.mean
		s.mean += float64(d * (w / sum))
		s.squares += float64(w * d * (float64(label) - s.mean))
	}
	return s
}

// merge adds labels of weight more to those of weight in s (Chan, Golub and LeVeque, 1979).
func (s *spread) merge(o spread, weight, more float64) {
	if more == 0 {
		return
	}
	d, share := o.mean-s.mean, more/(weight+more)
	s.squares += o.squares + float64(d*d*weight*share)
	s.mean += float64(d * share)
}

// classWeights sums the weights of the examples of each class, of blocks that have weights. A weight
// is m·2^(8·bin+e) with an integer m below 2³¹ and 0 ≤ e < 8: the sums of each bin are integers, so
// the order of the examples and their distribution over ranks do not matter.
//
//	class, bin        Σ m·2^e of the bin
//	class, countBin   number of examples
type classWeights struct{ model.Confusion }

const (
	countBin  = 32
	lowestBit = -149 // of a float32
)

// add adds the examples of a block.
func (c *classWeights) add(y, weights []float32) {
	for i, label := range y {
		fraction, exponent := math.Frexp(float64(weights[i]))
		low := max(exponent-24-lowestBit, 0) // weight = m·2^(low+lowestBit)
		m := int64(math.Ldexp(fraction, exponent-low-lowestBit))
		c.Add(model.Cell{Class: int(label), Predicted: low / 8, Examples: m << (low % 8)})
		c.Add(model.Cell{Class: int(label), Predicted: countBin, Examples: 1})
	}
}

// total returns the weight of each class, of all examples that counts has.
func (c *classWeights) total(counts *model.Confusion, classes int) []float64 {
	sums := make([]float64, classes)
	examples := make([]int64, classes)
	for _, n := range counts.Cells() {
		examples[n.Class] += n.Examples
	}
	for _, n := range c.Cells() {
		if n.Predicted == countBin {
			examples[n.Class] -= n.Examples
		} else {
			sums[n.Class] += math.Ldexp(float64(n.Examples), 8*n.Predicted+lowestBit)
		}
	}
	for k, n := range examples {
		sums[k] += float64(n)
	}
	return sums
}

// constant returns the mean loss of the prediction that is best without features: the share of each
// class, or the mean of the labels. It is 0 if all labels are equal.
func (e *Evaluator) constant(sum *tally) float64 {
	switch {
	case e.classes() == 0:
		return sum.spread.squares / sum.weight
	case e.binary():
		positives := sum.calibration.Positives()
		return e.Model.ConstantLoss([]float64{sum.calibration.Weight() - positives, positives})
	}
	return e.Model.ConstantLoss(e.shares.total(&e.counts, e.classes()))
}
