package model

import (
	"math"

	"ringtrain/model/tensor"
)

// probabilityMargin bounds probabilities away from 0 and 1 for logarithms, as in Keras's
// metrics. scikit-learn uses 1.2e-7, the epsilon of float32.
const probabilityMargin = 1e-7

// LogLoss returns the sum of −ln p over the examples, in float64 and in their order. p
// is the score of the example's class; with one column, the probability of class 1, it
// is the score or 1 minus the score. Scores are clipped to [1e-7, 1−1e-7]. A loss that
// is computed from logits may be larger.
func LogLoss(scores tensor.Matrix, y []float32) float64 {
	sum := 0.0
	for i, label := range y {
		row := scores.Row(i)
		p := 0.0
		switch {
		case len(row) > 1:
			p = float64(row[int(label)])
		case label > 0:
			p = float64(row[0])
		default:
			p = 1 - float64(row[0])
		}
		sum -= math.Log(min(max(p, probabilityMargin), 1-probabilityMargin))
	}
	return sum
}

// NormalizedEntropy returns a mean log loss divided by that of a model that predicts the
// share of positives for every example: a value below 1 is better than that model. It is
// NaN if there is only one class (He et al., "Practical Lessons from Predicting Clicks
// on Ads at Facebook", 2014).
//
// positives and examples are numbers, or sums of weights.
func NormalizedEntropy(logLoss, positives, examples float64) float64 {
	p := positives / examples
	if positives == 0 || positives == examples {
		return math.NaN()
	}
	return logLoss / -(p*math.Log(p) + (1-p)*math.Log(1-p))
}

// ConstantLoss returns the mean loss of a classifier that predicts the share of each class,
// of whose examples these are the numbers or the sums of weights. Of smoothed labels it
// predicts the means. It is 0 if all examples have the same class.
func (m *Model) ConstantLoss(classes []float64) float64 {
	total, present := 0.0, 0
	for _, w := range classes {
		total += w
		if w > 0 {
			present++
		}
	}
	if present < 2 {
		return 0
	}
	loss, s := 0.0, float64(m.smooth)
	for _, w := range classes {
		if p := float64((1-s)*(w/total)) + s/float64(len(classes)); p > 0 {
			loss -= float64(p * math.Log(p))
		}
	}
	return loss
}

// InTopK returns the number of examples whose class is among the k with the largest
// scores. Of equal scores the lower class comes first, so that the top 1 equals Correct;
// TensorFlow's in_top_k counts all scores equal to the k-th. A NaN score is never in the
// top.
func InTopK(scores tensor.Matrix, y []float32, k int) int64 {
	var n int64
	for i, label := range y {
		row, class := scores.Row(i), int(label)
		before := 0 // number of classes with a larger score
		for j, s := range row {
			if !(s < row[class]) && (s != row[class] || j < class) {
				before++
			}
		}
		if before < k {
			n++
		}
	}
	return n
}
