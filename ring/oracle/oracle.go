// Package oracle computes the input of each rank of a test all-reduce, and the expected sum.
//
// A rank's element is the difference of two levels. Each level but the first and the last is
// shared by two neighbouring ranks:
//
//	element(rank, i) = level(rank+1, i) - level(rank, i)        in (-1, 1)
//	Σ over p ranks   = level(p, i) - level(0, i)                in (-1, 1)
//
// Levels are multiples of 2⁻¹⁶ in [0, 1). The partial sum of any k neighbours in the ring is at
// most two such differences: one that ends with the last rank and one that begins with the
// first. So it is below partial = 2 in magnitude. Hence
//
//   - Partial sums are exact in float32, and the exact codec must give the sum
//     bit for bit. (Up to 256 ranks this holds in any other order too.)
//   - A lossy codec's error grows with p only as errors add up, not as sums
//     grow, so it does not hide that one of many ranks is missing.
//
// Levels repeat after a prime number of elements. Data in a wrong chunk or segment therefore
// meets other values.
//
// bench checks each sum that it times against an oracle. Tests check the sums of links and
// algorithms.
package oracle

import (
	"math"

	"ringtrain/ring/codec"
)

// Oracle has the input of one rank and the sum over all ranks.
type Oracle struct {
	own, sum []float32 // the input of this rank and the expected sum, by element
	size     int       // ranks
	bound    float64   // maximal error of the sum

	Codec codec.Codec // the codec of New or For
}

const (
	period  = 65521 // the largest prime below 2¹⁶
	partial = 2     // above every partial sum in magnitude
)

// New returns the oracle of a rank among p. c is the codec that encodes each partial sum:
// codec.None if the sum must be exact.
func New(rank, p int, c codec.Codec) *Oracle {
	o := &Oracle{own: make([]float32, period), sum: make([]float32, period), size: p, bound: bound(p, c), Codec: c}
	for i := range period {
		o.own[i] = level(rank+1, i) - level(rank, i)
		o.sum[i] = level(p, i) - level(0, i)
	}
	return o
}

// For returns the oracle of the same rank with another codec. Both share their tables.
func (o *Oracle) For(c codec.Codec) *Oracle {
	of := *o
	of.Codec, of.bound = c, bound(o.size, c)
	return &of
}

// level returns a pseudorandom multiple of 2⁻¹⁶ in [0, 1): 16 bits of the hash lowbias32
// (Wellons, "Prospecting for Hash Functions", 2018).
func level(j, i int) float32 {
	h := uint32(j)*period + uint32(i)
	h = (h ^ h>>16) * 0x7feb352d
	h = (h ^ h>>15) * 0x846ca68b
	return float32(h>>16) * 0x1p-16
}

// bound returns the maximal error of an element of the sum over p ranks.
//
// In the ring each element is encoded p times, as a partial sum of 1, 2, … p neighbours. Let
// the codec's error be at most u times the largest magnitude that it encodes. Let P bound the
// partial sums, and let e be the error of the decoded partial sum of k ranks. Adding the next
// rank's element rounds once, by at most 2⁻²⁴ of a sum below P+e. So
//
//	(P + e of k+1 ranks) ≤ (P + e of k ranks) · (1+2⁻²⁴) · (1+u),   (P + e of none) = P
//
// and for p ranks
//
//	e ≤ P · ((1+2⁻²⁴)ᵖ·(1+u)ᵖ - 1)
//
// The exact codec's error is 0, since no partial sum needs rounding.
func bound(p int, c codec.Codec) float64 {
	if !c.Lossy() {
		return 0
	}
	return partial * math.Expm1(float64(p)*(math.Log1p(c.Unit())+math.Log1p(0x1p-24)))
}

// Fill writes the rank's input.
func (o *Oracle) Fill(dst []float32) {
	for len(dst) > 0 {
		dst = dst[copy(dst, o.own):]
	}
}

// Check compares a result with the sum, element by element, and adds the errors to d.
func (o *Oracle) Check(d *Deviation, got []float32) {
	for len(got) > 0 {
		n := min(period, len(got))
		d.compare(got[:n], o.sum, o.bound)
		got = got[n:]
	}
}

// Deviation is the error of results.
type Deviation struct {
	Wrong    int64   // elements whose error exceeds the bound
	MaxError float64 // of all elements; NaN if one is NaN
}

// compare counts the elements of got whose distance from want exceeds
// bound.
func (d *Deviation) compare(got, want []float32, bound float64) {
	want = want[:len(got)]
	usual := min(d.MaxError, bound)
	for i, v := range got {
		off := math.Abs(float64(v) - float64(want[i]))
		if off <= usual {
			continue
		}
		if !(off <= bound) { // also true for NaN
			d.Wrong++
		}
		d.MaxError = max(d.MaxError, off)
		usual = min(d.MaxError, bound)
	}
}
