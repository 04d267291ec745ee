package evaluate

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

// classWeights returns the weight of the examples of each class; weights nil means 1.
func classWeights(classes int, y, weights []float32) []float64 {
	sums := make([]float64, classes)
	for i := 0; classes > 0 && i < len(y); i++ {
		if weights == nil {
			sums[int(y[i])]++
		} else {
			sums[int(y[i])] += float64(weights[i])
		}
	}
	return sums
}

// constant returns the mean loss of the prediction that is best without features: the share of each
// class, or the mean of the labels. It is 0 if all labels are equal.
func (e *Evaluator) constant(sum *tally) float64 {
	if e.classes() == 0 {
		return sum.spread.squares / sum.weight
	}
	return e.Model.ConstantLoss(sum.classes)
}
