package evaluate

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"ringtrain/model"
	"ringtrain/ring"
)

// weighted has the examples of a rank for the area under the curve, where records have weights.
// Examples with weights take 8 bytes each, the others 4.
//
// Weights are summed as integers: multiples of 2^-shift, to which they are rounded. So the sums are
// exact, and do not depend on the ranks. The shift is the largest with which the weights of all
// examples have a sum below 2⁶². With a million examples a weight keeps all of its 24 bits if it is
// at least 2^-17 of the largest.
type weighted struct {
	others plain // examples of weight 1
	pairs  []uint64
	most   int // number of examples of the rank
	next   int // index of the first pair that was not dropped
	shift  int
}

// A pair has the key of a score, the label and the weight, which is not negative:
//
//	63        32     31     30       0
//	┌───────────┬──────────┬─────────┐
//	│    key    │ positive │ weight  │
//	└───────────┴──────────┴─────────┘
const positiveBit = 1 << 31

// reset removes all examples and expects at most so many.
func (w *weighted) reset(examples int) { w.pairs, w.next, w.most = w.pairs[:0], 0, examples }

// add adds examples with weights. Labels above 0 are positive. It leaves out scores that are NaN and
// weights of 0.
func (w *weighted) add(scores, labels, weights []float32) {
	if left := w.most - len(w.pairs); left > 0 {
		w.pairs = slices.Grow(w.pairs, left) // once
	}
	for i, s := range scores {
		if s != s || weights[i] == 0 {
			continue
		}
		pair := uint64(model.RankKey(s))<<32 | uint64(math.Float32bits(weights[i]))
		if labels[i] > 0 {
			pair |= positiveBit
		}
		w.pairs = append(w.pairs, pair)
	}
}

// area returns the area under the curve of the examples of all ranks, of which there are so many, and
// the largest weight of any. others has the examples of this rank of weight 1. It is a collective
// operation and empties w and others.
func (w *weighted) area(ctx context.Context, g *ring.Group, others *model.Ranking, examples int, heaviest float64) (float64, error) {
	w.prepare(others, examples, heaviest)
	return areaOf(ctx, g, w, weightedBytes)
}

// prepare sorts the scores and determines the shift.
func (w *weighted) prepare(others *model.Ranking, examples int, heaviest float64) {
	others.Sort()
	slices.Sort(w.pairs)
	w.others.ranking = others
	_, exponent := math.Frexp(heaviest) // heaviest < 2^exponent
	w.shift = 62 - exponent - bits.Len(uint(examples))
}

// integer returns a weight as a multiple of 2^-shift.
func (w *weighted) integer(weight float64) uint64 {
	return uint64(math.RoundToEven(math.Ldexp(weight, w.shift)))
}

func (w *weighted) drop(key uint32) {
	w.others.drop(key)
	for w.next < len(w.pairs) && uint32(w.pairs[w.next]>>32) <= key {
		w.next++
	}
}

func (w *weighted) appendTies(dst []byte, most int) []byte {
	le, one := binary.LittleEndian, w.integer(1)
	w.others.ties = w.others.ranking.AppendTies(w.others.ties[:0], most)
	others, next := w.others.ties, w.next
	for ; most > 0 && (len(others) > 0 || next < len(w.pairs)); most-- {
		key := uint32(math.MaxUint32)
		if len(others) > 0 {
			key = others[0].Key
		}
		if next < len(w.pairs) {
			key = min(key, uint32(w.pairs[next]>>32))
		}
		var positives, negatives uint64
		if len(others) > 0 && others[0].Key == key {
			positives, negatives = one*uint64(others[0].Positives), one*uint64(others[0].Negatives)
			others = others[1:]
		}
		for ; next < len(w.pairs) && uint32(w.pairs[next]>>32) == key; next++ {
			pair := w.pairs[next]
			n := w.integer(float64(math.Float32frombits(uint32(pair) &^ positiveBit)))
			if pair&positiveBit != 0 {
				positives += n
			} else {
				negatives += n
			}
		}
		dst = le.AppendUint64(le.AppendUint64(le.AppendUint32(dst, key), positives), negatives)
	}
	return dst
}
