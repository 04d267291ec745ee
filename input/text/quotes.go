package text

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"ringtrain/input"
)

// Quoting says which bytes separate and enclose the fields of a line. A quote encloses a field
// only where the field begins with it; elsewhere it is a character like others. A quote within
// quotes ends them; directly behind it another begins quotes again, so a doubled quote is one
// of the field. With Trim, blanks may stand before the quote of a field, and behind the one that ends it.
type Quoting struct {
	Quote     byte // 0: none
	Separator byte
	Trim      bool
}

// Blank reports whether c is a blank that may stand around a field.
func (q Quoting) Blank(c byte) bool { return (c == ' ' || c == '\t') && c != q.Separator }

// back returns the last place of p that has no blank to trim, -1 if there is none.
func (q Quoting) back(p []byte) int {
	k := len(p) - 1
	for q.Trim && k >= 0 && q.Blank(p[k]) {
		k--
	}
	return k
}

// place is where in a line a byte stands.
type place uint8

const (
	fieldStart place = iota // a quote here encloses: at the beginning of a field, or behind a quote that ended
	inField                 // behind the beginning of a field without quotes
	inQuotes
	places
)

// fresh marks a place before which the line has only blanks.
const fresh place = 1 << 7

// line returns the length of what p has of a line that is in a place: up to its line end, this
// included, or all of p. ended reports which, and after is the place behind it.
func (q Quoting) line(p []byte, at place) (n int, after place, ended bool) {
	within, closed := at == inQuotes, -2 // the quote that ended quotes last
	if at == fieldStart {
		closed = -1
	}
	if q.Quote == 0 && !within {
		if end := bytes.IndexByte(p, '\n'); end >= 0 {
			return end + 1, fieldStart, true
		}
	}
	quotes, ends := ones*uint64(q.Quote), uint64(ones*'\n')
	for i := 0; q.Quote != 0 && i < len(p); i += 8 {
		var w uint64
		if i+8 <= len(p) {
			w = binary.LittleEndian.Uint64(p[i:])
		} else {
			w = lastWord(p[i:])
		}
		for marks := zeros(w^quotes) | zeros(w^ends); marks != 0; marks &= marks - 1 {
			k := i + bits.TrailingZeros64(marks)/8
			switch {
			case p[k] == '\n':
				if !within {
					return k + 1, fieldStart, true
				}
			case within:
				within, closed = false, k
			default:
				last := q.back(p[:k])
				within = closed == last || last >= 0 && p[last] == q.Separator
			}
		}
	}
	switch last := q.back(p); {
	case within:
		return len(p), inQuotes, false
	case closed == last || last >= 0 && p[last] == q.Separator:
		return len(p), fieldStart, false
	}
	return len(p), inField, false
}

const ones = 0x0101010101010101

// Index is bytes.IndexByte, quicker where c is among the first sixteen bytes of p.
func Index(p []byte, c byte) int {
	for n := 0; n+8 <= len(p) && n < 16; n += 8 {
		w := binary.LittleEndian.Uint64(p[n:]) ^ ones*uint64(c)
		if z := (w - ones) &^ w & (ones << 7); z != 0 {
			return n + bits.TrailingZeros64(z)/8
		}
	}
	return bytes.IndexByte(p, c)
}

// lastWord returns fewer than eight bytes as a word, with zeros behind them.
func lastWord(p []byte) (w uint64) {
	for i, c := range p {
		w |= uint64(c) << (8 * i)
	}
	return w
}

// zeros returns the high bit of each byte of w that is 0.
func zeros(w uint64) uint64 {
	const low = 0x7f7f7f7f7f7f7f7f
	return ^((w&low + low) | w | low)
}

// WithLines is err of a record that takes all its lines away, see input.Lost: a quote may have made one record
// of many.
func WithLines(record []byte, err error) error {
	return input.WithLost(1+bytes.Count(bytes.TrimRight(record, "\n"), []byte{'\n'}), err)
}

// Enclosed returns the length of the quotes that a field begins with, and of what they enclose:
// 0 without quotes, -1 if they do not end. doubled reports that a doubled quote is within.
func (q Quoting) Enclosed(field []byte) (n int, doubled bool) {
	if q.Quote == 0 || len(field) == 0 || field[0] != q.Quote {
		return 0, false
	}
	for n = 1; ; n++ {
		end := Index(field[n:], q.Quote)
		if end < 0 {
			return -1, doubled
		}
		n += end + 1
		if n == len(field) || field[n] != q.Quote {
			return n, doubled
		}
		doubled = true
	}
}
