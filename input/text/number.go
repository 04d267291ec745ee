package text

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// Pad is the number of bytes that may be read behind a line: numbers are read eight bytes
// at a time.
const Pad = 8

const (
	tens    = 0x3030303030303030 // eight digits 0
	nibbles = 0xf0f0f0f0f0f0f0f0
	sixes   = 0x0606060606060606
)

// Digits returns the value of the decimal digits, at most eight, that the bytes of w begin
// with, first byte first, and their number.
func Digits(w uint64) (value uint64, n int) {
	// The upper half of a digit is 3, also after 6 is added. A carry changes only what
	// follows a byte that is no digit.
	if other := (w&nibbles ^ tens) | ((w+sixes)&nibbles ^ tens); other != 0 {
		n = bits.TrailingZeros64(other) >> 3
		w <<= 64 - 8*uint(n) // zeros come before the digits; all of it if n is 0
	} else {
		n = 8
	}
	w &= ^uint64(nibbles)
	w = w*10 + w>>8 // tens of two digits in bytes 0, 2, 4, 6
	w = (w&0x000000ff000000ff*(100+1000000<<32) + w>>16&0x000000ff000000ff*(1+10000<<32)) >> 32
	return w & 0xffffffff, n
}

// Uint reads the decimal digits at the beginning of p, of which len(p) − Pad bytes are text.
// It returns how many there are. More than 19 digits give an n for which value has no
// meaning.
func Uint(p []byte) (value uint64, n int) {
	value, n = Digits(binary.LittleEndian.Uint64(p))
	if n < 8 {
		return value, n
	}
	for len(p)-n >= Pad {
		v, more := Digits(binary.LittleEndian.Uint64(p[n:]))
		value = value*powers[more] + v
		n += more
		if more < 8 {
			break
		}
	}
	return value, n
}

// ParseFloat is strconv.ParseFloat of decimal numbers. The others of Go, 1_000 and 0x1p3, are none: what
// reads the same data elsewhere refuses them.
func ParseFloat(word []byte, bits int) (float64, error) {
	if bytes.ContainsAny(word, "_xX") {
		return 0, strconv.ErrSyntax
	}
	return strconv.ParseFloat(string(word), bits)
}

// Float64 is as Float32, of strconv.ParseFloat(…, 64). It cannot tell of more than 15
// digits, and of exponents beyond 22: else both factors are exact, and one rounding is
// right (Clinger, "How to read floating point numbers accurately", 1990).
func Float64(p []byte) (value float64, n int) {
	m, e, neg, n := decimal(p)
	if m > 1<<53 || e < -22 || e > 22 {
		return 0, 0
	}
	value = float64(m)
	if e < 0 {
		value /= tensTable[mostPower-e]
	} else if e > 0 {
		value *= tensTable[mostPower+e]
	}
	if neg {
		value = -value
	}
	return value, n
}

// Word returns the length of the word at the beginning of p, which ends at a blank, a tab,
// \r or \n.
func Word(p []byte) int {
	n := 0
	for p[n] != ' ' && p[n] != '\n' && p[n] != '\t' && p[n] != '\r' {
		n++
	}
	return n
}

var powers = [9]uint64{1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000}

// mostDigits of a number fit into 64 bits.
const mostDigits = 19

// Float32 reads the decimal number at the beginning of p, of which len(p) − Pad bytes are
// text, and returns its length. Value is what strconv.ParseFloat(…, 32) says of these
// bytes, bit for bit. Where Float32 cannot tell it returns n = 0: of words such as inf or
// 0x1p-2, of more than 19 digits, and of values that are tiny, huge or lie too near to the
// middle of two float32.
func Float32(p []byte) (value float32, n int) {
	m, e, neg, n := decimal(p)
	if n == 0 {
		return 0, 0
	}
	switch {
	case e == 0 && m <= 1<<24:
		value = float32(m)
	case m == 0:
		value = 0
	default:
		var ok bool
		if value, ok = round(m, e); !ok {
			return 0, 0
		}
	}
	if neg {
		value = -value
	}
	return value, n
}

// decimal reads a number m·10^e with its sign. n is its length, 0 if it is none that fits
// into m.
func decimal(p []byte) (m uint64, e int, neg bool, n int) {
	switch p[0] {
	case '-':
		neg, n = true, 1
	case '+':
		n = 1
	}
	if len(p)-n < Pad {
		return 0, 0, false, 0
	}
	m, count := Uint(p[n:])
	n += count
	if len(p)-n > Pad && p[n] == '.' {
		fraction, more := Uint(p[n+1:])
		n += 1 + more
		if count += more; count <= mostDigits && count > 0 {
			m, e = m*power(more)+fraction, -more
		}
	}
	if count == 0 || count > mostDigits || n == len(p) {
		return 0, 0, false, 0
	}
	if p[n]|0x20 != 'e' {
		return m, e, neg, n
	}
	x, length := exponent(p[n:])
	if length == 0 {
		return 0, 0, false, 0
	}
	return m, e + x, neg, n + length
}

// power returns 10^n for n up to mostDigits.
func power(n int) uint64 {
	x := uint64(1)
	for ; n > 8; n -= 8 {
		x *= powers[8]
	}
	return x * powers[n]
}

// exponent reads e, a sign and at most four digits. Length 0: it is none.
func exponent(p []byte) (value, length int) {
	n, neg := 1, false
	if len(p) > n && (p[n] == '-' || p[n] == '+') {
		n, neg = 2, p[n] == '-'
	}
	if len(p)-n < Pad {
		return 0, 0
	}
	x, count := Digits(binary.LittleEndian.Uint64(p[n:]))
	if count == 0 || count > 4 {
		return 0, 0
	}
	if neg {
		return -int(x), n + count
	}
	return int(x), n + count
}

// Powers of ten by which round multiplies or divides. Each is the float64 next to it.
const mostPower = 64

var tensTable = powersOfTen()

func powersOfTen() (t [2*mostPower + 1]float64) {
	for i := range t {
		t[i], _ = strconv.ParseFloat("1e"+strconv.Itoa(i-mostPower), 64)
	}
	return t
}

// round returns the float32 next to m·10^e, and whether it is sure of it.
//
// The product of two float64 that are each off by half a unit is off by less than 2 units
// in the last of 53 bits, or 3 with the rounding of the product. A float32 has 24 of these
// bits. Only if the 29 bits below are within 4 units of the middle of two float32 may the
// rounding go the other way. Below the smallest normal float32, and above the largest, the
// number of bits is another one.
func round(m uint64, e int) (float32, bool) {
	if e < -mostPower || e > mostPower {
		return 0, false
	}
	x := float64(m) * tensTable[e+mostPower]
	const (
		smallest = 0x1p-126
		largest  = 0x1.fffffep127
		half     = 1 << 28
		lower    = 1<<29 - 1
	)
	if low := int64(math.Float64bits(x) & lower); low-half <= 4 && half-low <= 4 || x < 2*smallest || x > largest {
		return 0, false
	}
	return float32(x), true
}
