package model

import (
	"math"
	"slices"

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

// AUC returns the area under the ROC curve: the share of the pairs of a
// positive and a negative example in which the positive one has the larger
// score. Ties count half. Labels above 0 are positive.
//
// The count is exact, in integers, so the order of the examples does not
// matter. TensorFlow's tf.metrics.auc approximates it by 200 thresholds. With
// one class only, or a score that is NaN, AUC is NaN. It leaves its arguments
// as they are, needs 8 bytes an example, and is good for 2³¹ examples.
func AUC(scores, labels []float32) float64 {
	if len(scores) != len(labels) {
		panic("model: AUC: want one label for each score")
	}
	keys := make([]uint64, len(scores))
	for i, s := range scores {
		if s != s {
			return math.NaN()
		}
		keys[i] = uint64(ascending(s)) << 1
		if labels[i] > 0 {
			keys[i] |= 1
		}
	}
	slices.Sort(keys)
	var negatives, positives, twiceWins int64
	for len(keys) > 0 {
		var tied [2]int64 // negatives and positives of one score
		score := keys[0] >> 1
		for len(keys) > 0 && keys[0]>>1 == score {
			tied[keys[0]&1]++
			keys = keys[1:]
		}
		twiceWins += tied[1] * (2*negatives + tied[0])
		negatives += tied[0]
		positives += tied[1]
	}
	return float64(twiceWins) / float64(2*negatives*positives) // 0/0 is NaN
}

// ascending maps a float32 to an integer that orders as the float does; −0 and
// 0 map to the same.
func ascending(x float32) uint32 {
	bits := math.Float32bits(x + 0) // −0 + 0 = 0
	if bits>>31 == 1 {
		return ^bits
	}
	return bits | 1<<31
}

// RMSE returns the root of the mean squared error of n examples whose squared
// errors sum to sum. It is NaN for none.
func RMSE(sum float64, n int64) float64 { return math.Sqrt(sum / float64(n)) }
