package model

import (
	"math"

	"ringtrain/model/tensor"
)

// Correct returns the number of examples with a correct prediction. The predicted class
// is that of the largest score, of equal scores the lowest class. With one column, the
// probability of class 1, it is 1 if the score is above ½. y has the labels.
func Correct(scores tensor.Matrix, y []float32) int64 {
	if len(y) != scores.Rows {
		panic("model: Correct: want one label for each row of scores")
	}
	var n int64
	for i, label := range y {
		if float32(predicted(scores.Row(i))) == label {
			n++
		}
	}
	return n
}

func predicted(scores []float32) int {
	if len(scores) == 1 {
		if scores[0] > 0.5 {
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

// RMSE returns the root mean squared error of examples with the given sum of squared
// errors and sum of weights, or number. It is NaN without examples.
func RMSE(sum, weight float64) float64 { return math.Sqrt(sum / weight) }
