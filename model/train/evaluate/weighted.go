package evaluate

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"

	"ringtrain/model"
	"ringtrain/ring"
	"ringtrain/ring/exitcode"
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

// weights are sums of weights, in multiples of 2^-149, of positive and negative examples.
type weights struct{ positives, negatives big.Int }

func (w *weights) add(o *weights) {
	w.positives.Add(&w.positives, &o.positives)
	w.negatives.Add(&w.negatives, &o.negatives)
}

// addSent adds the sums of a message. It changes x.
func (w *weights) addSent(sums []byte, x *big.Int) {
	w.positives.Add(&w.positives, x.SetBytes(sums[:sumBytes]))
	w.negatives.Add(&w.negatives, x.SetBytes(sums[sumBytes:2*sumBytes]))
}

// appendTo appends the sums in the form of a message.
func (w *weights) appendTo(dst []byte) []byte {
	var sum [sumBytes]byte
	dst = append(dst, w.positives.FillBytes(sum[:])...)
	return append(dst, w.negatives.FillBytes(sum[:])...)
}

// of returns the sum that a pair of weighted belongs to.
func (w *weights) of(pair uint64) *big.Int {
	if pair&positiveBit != 0 {
		return &w.positives
	}
	return &w.negatives
}

// above returns the sums of the examples that are in w and not in o.
func (w *weights) above(o *weights) (above weights) {
	above.positives.Sub(&w.positives, &o.positives)
	above.negatives.Sub(&w.negatives, &o.negatives)
	return above
}

// weightedArea is plainArea of sums of weights.
type weightedArea struct {
	all             *weights // only outcome and improve need it
	ended, current  weights
	hits, predicted big.Int // of the best F1: 2·hits / (predicted + all positives)
	records         plainArea
	wins, x         big.Int
}

func (a *weightedArea) add(sums []byte) {
	a.current.addSent(sums, &a.x)
	a.records.add(sums[2*sumBytes:])
}

func (a *weightedArea) end() {
	a.x.Add(a.x.Lsh(&a.ended.negatives, 1), &a.current.negatives)
	a.wins.Add(&a.wins, a.x.Mul(&a.x, &a.current.positives))
	a.ended.add(&a.current)
	a.current.positives.SetInt64(0)
	a.current.negatives.SetInt64(0)
	a.records.end()
}

func (a *weightedArea) value() float64 {
	pairs := a.x.Lsh(a.x.Mul(&a.ended.positives, &a.ended.negatives), 1)
	wins, _ := a.wins.Float64()
	all, _ := pairs.Float64()
	return wins / all // 0/0 is NaN
}

func (a *weightedArea) outcome() outcome {
	above, o := a.all.above(&a.ended), a.records.outcome()
	o.hits, o.alarms = weight(&above.positives), weight(&above.negatives)
	o.positives, o.negatives = weight(&a.all.positives), weight(&a.all.negatives)
	return o
}

// weight is a sum of weights as a number.
func weight(sum *big.Int) float64 {
	w, _ := new(big.Float).SetMantExp(new(big.Float).SetInt(sum), -149).Float64()
	return w
}

func (a *weightedArea) improve() bool {
	above := a.all.above(&a.ended) // its memory is kept
	predicted := new(big.Int).Add(&above.positives, &above.negatives)
	mine := new(big.Int).Add(&a.predicted, &a.all.positives)
	best := new(big.Int).Add(predicted, &a.all.positives)
	if mine.Mul(mine, &above.positives).Cmp(best.Mul(best, &a.hits)) <= 0 {
		return false
	}
	a.hits, a.predicted = above.positives, *predicted
	return true
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

// add adds examples with weights. Labels above 0 are positive. A score that is NaN has the place of -Inf: no area
// is computed, or its weight is 0.
func (w *weighted) add(scores, labels, weights []float32) {
	if left := w.most - len(w.pairs); left > 0 {
		w.pairs = slices.Grow(w.pairs, left) // once
	}
	for i, s := range scores {
		if s != s {
			s = float32(math.Inf(-1))
		}
		pair := uint64(model.RankKey(s))<<32 | uint64(math.Float32bits(weights[i]))
		if labels[i] > 0 {
			pair |= positiveBit
		}
		w.pairs = append(w.pairs, pair)
	}
}

// all returns the weights of the examples of all ranks. others has the examples of this rank of weight 1. It is a
// collective operation.
func (w *weighted) all(ctx context.Context, g *ring.Group, others *model.Ranking) (sum *weights, err error) {
	var x big.Int
	var all ring.Gathered
	mine, one := new(weights), math.Float32bits(1)
	positives, negatives := others.Counts()
	addWeight(&mine.positives, &x, one, positives)
	addWeight(&mine.negatives, &x, one, negatives)
	for _, p := range w.pairs {
		addWeight(mine.of(p), &x, uint32(p)&^positiveBit, 1)
	}
	if err := g.AllGather(ctx, mine.appendTo(nil), &all); err != nil {
		return nil, err
	}
	sum = new(weights)
	for rank := range g.Membership().Size() {
		sent := all.At(rank)
		if len(sent) != 2*sumBytes {
			return nil, exitcode.With(exitcode.Protocol, fmt.Errorf("rank %d sent %d bytes of weights, want %d", rank, len(sent), 2*sumBytes))
		}
		sum.addSent(sent, &x)
	}
	return sum, nil
}

// sorted returns w with others, the sorted examples of weight 1.
func (w *weighted) sorted(others *model.Ranking) *weighted {
	slices.Sort(w.pairs)
	w.others.ranking = others
	return w
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
	one := math.Float32bits(1)
	for ; most > 0 && (len(others) > 0 || next < len(w.pairs)); most-- {
		key := uint32(math.MaxUint32)
		if len(others) > 0 {
			key = others[0].Key
		}
		if next < len(w.pairs) {
			key = min(key, uint32(w.pairs[next]>>32))
		}
		var sum weights
		var records model.Tie
		var x big.Int
		if len(others) > 0 && others[0].Key == key {
			records, others = others[0], others[1:]
			addWeight(&sum.positives, &x, one, records.Positives)
			addWeight(&sum.negatives, &x, one, records.Negatives)
		}
		for ; next < len(w.pairs) && uint32(w.pairs[next]>>32) == key; next++ {
			pair := w.pairs[next]
			addWeight(sum.of(pair), &x, uint32(pair)&^positiveBit, 1)
			if pair&positiveBit != 0 {
				records.Positives++
			} else {
				records.Negatives++
			}
		}
		dst = sum.appendTo(binary.LittleEndian.AppendUint32(dst, key))
		dst = appendNumbers(dst, records.Positives, records.Negatives)
	}
	return dst
}
