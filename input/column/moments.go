package column

import (
	"math"
	"math/big"
	"math/bits"
	"slices"
)

// moments are the number of some numbers after their transform, their sum and that of their squares, and the least and
// the largest number before. The sums are exact, so that neither the order of the numbers nor how they are cut into parts
// changes the mean and the deviation: those of the same rows are the same bits in each format.
//
// A sum is a row of digits, the lowest first, each of 32 bits and with room for carries: "Fast exact summation using small
// and large superaccumulators", Neal, 2015.
type moments struct {
	n        int64
	loose    int                 // numbers whose carries are not yet settled
	sum      [sumDigits]int64    // in units of 2^-unit
	squares  [squareDigits]int64 // in units of 2^(-2·unit)
	min, max float64
}

// A number is within the range of float32, and its bits below 2^-unit do not count. Sums of 2^60 numbers have room.
const (
	unit         = 192
	digitBits    = 32
	sumDigits    = 13
	squareDigits = 23
	maxLoose     = 500 // two numbers of 53 bits each in a digit
)

// add takes a number x, which is t after its transform.
func (m *moments) add(t, x float64) {
	if m.n == 0 {
		m.min, m.max = x, x
	}
	m.n++
	if x < m.min {
		m.min = x
	} else if x > m.max {
		m.max = x
	}
	const hidden = 1 << 52
	b := math.Float64bits(t)
	exponent := int(b >> 52 & 0x7ff)
	if exponent == 0 {
		return // 0, or so small that it does not count
	}
	v, at := b&(hidden-1)|hidden, exponent-1075+unit
	if at < 0 {
		v, at = v>>min(-at, 63), 0
	}
	at = min(at, unit+128-53)
	sign := int64(b) >> 63
	put(m.sum[:], (int64(v)^sign)-sign, uint(at))
	high, low := bits.Mul64(v, v)
	put(m.squares[:], int64(low&(2*hidden-1)), 2*uint(at))
	put(m.squares[:], int64(high<<11|low>>53), 2*uint(at)+53)
	if m.loose++; m.loose == maxLoose {
		m.settle()
	}
}

// put adds v·2^at to digits.
func put(digits []int64, v int64, at uint) {
	i, k := at/digitBits, at%digitBits
	digits[i] += int64(uint32(v << k))
	digits[i+1] += v >> (digitBits - k)
}

// settle carries what is above the bits of a digit to the next one.
func (m *moments) settle() {
	m.loose = 0
	for _, digits := range [][]int64{m.sum[:], m.squares[:]} {
		for i := range len(digits) - 1 {
			digits[i+1] += digits[i] >> digitBits
			digits[i] = int64(uint32(digits[i]))
		}
	}
}

// merge takes the numbers of o.
func (m *moments) merge(o *moments) {
	switch {
	case o.n == 0:
		return
	case m.n == 0:
		m.min, m.max = o.min, o.max
	}
	o.settle()
	m.n, m.min, m.max = m.n+o.n, min(m.min, o.min), max(m.max, o.max)
	for i, v := range o.sum {
		m.sum[i] += v
	}
	for i, v := range o.squares {
		m.squares[i] += v
	}
	m.settle()
}

// mean returns the mean of the numbers.
func (m *moments) mean() float64 {
	return ratio(number(m.sum[:]), big.NewInt(m.n), unit)
}

// deviations returns the sum of the squared differences from the mean: Σt² − (Σt)²/n.
func (m *moments) deviations() float64 {
	sum, n := number(m.sum[:]), big.NewInt(m.n)
	of := new(big.Int).Mul(number(m.squares[:]), n)
	return ratio(of.Sub(of, sum.Mul(sum, sum)), n, 2*unit)
}

// ratio returns a/b·2^-scale, rounded once.
func ratio(a, b *big.Int, scale uint) float64 {
	v, _ := new(big.Rat).SetFrac(a, new(big.Int).Lsh(b, scale)).Float64()
	return v
}

// number returns the number that digits are.
func number(digits []int64) *big.Int {
	v := new(big.Int)
	for _, d := range slices.Backward(digits) {
		v.Add(v.Lsh(v, digitBits), big.NewInt(d))
	}
	return v
}
