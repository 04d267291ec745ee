package model

import (
	"math"

	"ringtrain/model/tensor"
)

// Correct counts the examples whose class is predicted rightly: the class of
// the largest score, the lowest of equal ones; with one column, which is the
// probability of a 1, class 1 if it is above ½. y holds the labels.
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

// RMSE returns the root of the mean squared error of n examples whose squared
// errors sum to sum. It is NaN for none.
func RMSE(sum float64, n int64) float64 { return math.Sqrt(sum / float64(n)) }
