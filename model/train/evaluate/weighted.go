package evaluate

import (
	"context"
	"encoding/binary"
	"math"
	"math/big"
	"slices"

	"ringtrain/model"
	"ringtrain/ring"
)

// weighted has the examples of a rank for the area under the curve, where records have weights.
// Examples with weights take 8 bytes each, the others 4.
//
// Weights are summed as integers: each float32 is a multiple of 2^-149. So the sums are exact, and do not
// depend on the ranks.
type weighted struct {
	others plain // examples of weight 1
	pairs  []uint64
	most   int // number of examples of the rank
	next   int // index of the first pair that was not dropped
}

// sumBytes holds a sum of weights in multiples of 2^-149, highest byte first: of 2^42 of the largest.
const sumBytes = 40

// addWeight adds a weight of 0 or more n times to sum. It changes x.
func addWeight(sum, x *big.Int, weight, n uint32) {
	mantissa, exponent := weight&(1<<23-1), weight>>23
	if exponent > 0 {
		mantissa, exponent = mantissa|1<<23, exponent-1
	}
	sum.Add(sum, x.Lsh(x.SetUint64(uint64(mantissa)*uint64(n)), uint(exponent)))
}

// weightedArea is model.Area of sums of weights.
type weightedArea struct{ positives, negatives, allPositives, allNegatives, wins, x big.Int }

func (a *weightedArea) add(sums []byte) {
	a.positives.Add(&a.positives, a.x.SetBytes(sums[:sumBytes]))
	a.negatives.Add(&a.negatives, a.x.SetBytes(sums[sumBytes:]))
}

func (a *weightedArea) end() {
	a.x.Add(a.x.Lsh(&a.allNegatives, 1), &a.negatives)
	a.wins.Add(&a.wins, a.x.Mul(&a.x, &a.positives))
	a.allPositives.Add(&a.allPositives, &a.positives)
	a.allNegatives.Add(&a.allNegatives, &a.negatives)
	a.positives.SetInt64(0)
	a.negatives.SetInt64(0)
}

func (a *weightedArea) value() float64 {
	pairs := a.x.Lsh(a.x.Mul(&a.allPositives, &a.allNegatives), 1)
	wins, _ := a.wins.Float64()
	all, _ := pairs.Float64()
	return wins / all // 0/0 is NaN
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

// area returns the area under the curve of the examples of all ranks. others has the examples of this
// rank of weight 1. It is a collective operation and empties w and others.
func (w *weighted) area(ctx context.Context, g *ring.Group, others *model.Ranking) (float64, error) {
	w.sort(others)
	return areaOf(ctx, g, w, weightedBytes, new(weightedArea))
}

func (w *weighted) sort(others *model.Ranking) {
	others.Sort()
	slices.Sort(w.pairs)
	w.others.ranking = others
}

func (w *weighted) drop(key uint32) {
	w.others.drop(key)
	for w.next < len(w.pairs) && uint32(w.pairs[w.next]>>32) <= key {
		w.next++
	}
}

func (w *weighted) appendTies(dst []byte, most int) []byte {
	w.others.ties = w.others.ranking.AppendTies(w.others.ties[:0], most)
	others, next := w.others.ties, w.next
	sums, one := make([]byte, 2*sumBytes), math.Float32bits(1)
	for ; most > 0 && (len(others) > 0 || next < len(w.pairs)); most-- {
		key := uint32(math.MaxUint32)
		if len(others) > 0 {
			key = others[0].Key
		}
		if next < len(w.pairs) {
			key = min(key, uint32(w.pairs[next]>>32))
		}
		var positives, negatives, x big.Int
		if len(others) > 0 && others[0].Key == key {
			addWeight(&positives, &x, one, others[0].Positives)
			addWeight(&negatives, &x, one, others[0].Negatives)
			others = others[1:]
		}
		for ; next < len(w.pairs) && uint32(w.pairs[next]>>32) == key; next++ {
			sum := &negatives
			if w.pairs[next]&positiveBit != 0 {
				sum = &positives
			}
			addWeight(sum, &x, uint32(w.pairs[next])&^positiveBit, 1)
		}
		dst = binary.LittleEndian.AppendUint32(dst, key)
		dst = append(dst, positives.FillBytes(sums[:sumBytes])...)
		dst = append(dst, negatives.FillBytes(sums[sumBytes:])...)
	}
	return dst
}
