package evaluate

// spread is the mean of labels and the sum of the squared differences from it, each times its weight.
type spread struct{ mean, squares float64 }

// spreadOf returns the spread of labels of which each has its weight.
func spreadOf(y []float32, weight func(i int) float64, unit func(float32) float64) (s spread) {
	sum := 0.0
	for i, label := range y {
		w := weight(i)
		s.merge(spread{mean: unit(label)}, sum, w)
		sum += w
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

// constant returns the mean loss of the prediction that is best without features: the share of each
// class, or the mean of the labels. It is 0 if all labels are equal.
func (e *Evaluator) constant(sum *tally) float64 {
	if e.classes() == 0 {
		return sum.spread.squares / sum.weight
	}
	return e.Model.ConstantLoss(sum.classes)
}
