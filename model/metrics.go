package model

import (
	"math"

	"ringtrain/model/tensor"
)

// Correct returns the number of examples with a correct prediction: see Predicted. y has
// the labels.
func Correct(scores tensor.Matrix, y []float32, threshold float64) int64 {
	if len(y) != scores.Rows {
		panic("model: Correct: want one label for each row of scores")
	}
	var n int64
	for i, label := range y {
		if float32(Predicted(scores.Row(i), threshold)) == label {
			n++
		}
	}
	return n
}

// Predicted returns the predicted class of an example: that of the largest score, of equal
// scores the lowest class. Of two classes it is 1 if the probability of class 1, which is the
// only score or the last, is above the threshold.
func Predicted(scores []float32, threshold float64) int {
	if len(scores) <= 2 {
		if float64(scores[len(scores)-1]) > threshold {
			return 1
		}
		return 0
	}
	best := 0
	for j, s := range scores {
		if s > scores[best] {
			best = j
		}
	}
	return best
}

// Errors returns the sums of the absolute and of the squared differences of scores from labels, both in the unit of
// the label.
func Errors(scores, y []float32, unit func(float32) float64) (absolute, squared float64) {
	for i, s := range scores {
		d := unit(s) - unit(y[i])
		absolute += math.Abs(d)
		squared += float64(d * d)
	}
	return absolute, squared
}

// R2 returns the coefficient of determination, 1 − squares/spread: of the squared differences
// of the labels from their mean, the share that the scores explain. squares is the sum of the
// squared errors, spread that of the squared differences. It is NaN if all labels are equal.
func R2(squares, spread float64) float64 {
	if spread == 0 {
		return math.NaN()
	}
	return 1 - squares/spread
}

// RMSE returns the root mean squared error of examples with the given sum of squared
// errors and sum of weights, or number. It is NaN without examples.
func RMSE(sum, weight float64) float64 { return math.Sqrt(sum / weight) }
