package model

import (
	"math"
	"math/bits"
)

// Ranking stores the scores of examples of two classes in 4 bytes each, for the area
// under the ROC curve. The zero value is empty.
type Ranking struct {
	positives, negatives sortedScores
	undefined            bool // a score was NaN
	scratch              []uint32
}

// sortedScores has scores as integers of the same order.
type sortedScores struct {
	list []uint32
	next int // index of the first key that was not dropped
}

// Tie counts the examples with one score. Keys have the order of the scores.
type Tie struct {
	Key                  uint32
	Positives, Negatives uint32
}

// Reset removes all examples from r and keeps its memory.
func (r *Ranking) Reset() {
	r.positives = sortedScores{list: r.positives.list[:0]}
	r.negatives = sortedScores{list: r.negatives.list[:0]}
	r.undefined = false
}

// Add adds examples. Labels above 0 are positive. It panics if the lengths differ.
func (r *Ranking) Add(scores, labels []float32) {
	if len(scores) != len(labels) {
		panic("model: Ranking: want one label for each score")
	}
	for i, s := range scores {
		switch {
		case s != s:
			r.undefined = true
		case labels[i] > 0:
			r.positives.list = append(r.positives.list, RankKey(s))
		default:
			r.negatives.list = append(r.negatives.list, RankKey(s))
		}
	}
}

// Counts returns the numbers of positive and negative examples.
func (r *Ranking) Counts() (positives, negatives uint32) {
	return uint32(len(r.positives.list)), uint32(len(r.negatives.list))
}

// Len returns the number of scores.
func (r *Ranking) Len() int { return len(r.positives.list) + len(r.negatives.list) }

// Undefined reports whether a score was NaN, which has no place in the order.
func (r *Ranking) Undefined() bool { return r.undefined }

// Sort sorts the scores for AppendTies.
func (r *Ranking) Sort() {
	r.scratch = sortKeys(r.positives.list, r.scratch)
	r.scratch = sortKeys(r.negatives.list, r.scratch)
}

// AppendTies appends at most most of the lowest scores of a sorted Ranking, in ascending
// order of keys.
func (r *Ranking) AppendTies(dst []Tie, most int) []Tie {
	positives, negatives := r.positives, r.negatives
	for ; most > 0; most-- {
		low, some := positives.first()
		if k, more := negatives.first(); more && (!some || k < low) {
			low, some = k, true
		}
		if !some {
			break
		}
		dst = append(dst, Tie{Key: low, Positives: positives.drop(low), Negatives: negatives.drop(low)})
	}
	return dst
}

// Drop removes the scores up to and including key from a sorted Ranking.
func (r *Ranking) Drop(key uint32) {
	r.positives.drop(key)
	r.negatives.drop(key)
}

func (s *sortedScores) first() (key uint32, some bool) {
	if s.next == len(s.list) {
		return 0, false
	}
	return s.list[s.next], true
}

// drop removes the keys up to and including upTo and returns their number.
func (s *sortedScores) drop(upTo uint32) (n uint32) {
	for s.next < len(s.list) && s.list[s.next] <= upTo {
		s.next++
		n++
	}
	return n
}

// Area computes the area under the ROC curve: the share of the pairs of a positive and a
// negative example in which the positive one has the larger score. Equal scores count
// half.
//
// The count is exact, in integers, so the order of the examples and their distribution
// over ranks do not matter. TensorFlow's tf.metrics.auc approximates the area by 200
// thresholds. Positives and negatives, or their weights in integers, may have sums up to
// 2⁶². The zero value has none.
type Area struct {
	negatives, positives uint64
	high, low            uint64 // twice the wins
}

// Add adds the examples of one score. Calls must be in ascending order of scores, and
// all examples of one score must come in one call.
func (a *Area) Add(positives, negatives uint64) {
	high, low := bits.Mul64(positives, 2*a.negatives+negatives)
	var carry uint64
	a.low, carry = bits.Add64(a.low, low, 0)
	a.high, _ = bits.Add64(a.high, high, carry)
	a.negatives += negatives
	a.positives += positives
}

// Value returns the area, or NaN if there is only one class.
func (a *Area) Value() float64 {
	high, low := bits.Mul64(2*a.negatives, a.positives)
	return float128(a.high, a.low) / float128(high, low) // 0/0 is NaN
}

// float128 returns an integer of two words.
func float128(high, low uint64) float64 { return float64(high)*(1<<64) + float64(low) }

// RankKey maps a float32 to an integer with the same order; −0 and 0 map to the same
// integer.
func RankKey(x float32) uint32 {
	b := math.Float32bits(x + 0) // −0 + 0 = 0
	if b>>31 == 1 {
		return ^b
	}
	return b | 1<<31
}

// RankScore is the inverse of RankKey.
func RankScore(key uint32) float32 {
	if key>>31 == 1 {
		return math.Float32frombits(key &^ (1 << 31))
	}
	return math.Float32frombits(^key)
}
