package look

import (
	"bytes"
	"math"
)

// signs may stand around the digits of a number.
var signs = [...]string{"$", "€", "£", "%", " ", ","}

// comma and blank are the places of the comma and of the blank between thousands in signs.
const (
	comma = len(signs) - 1
	blank = comma - 1
)

// looseNumbers are numbers with signs of money or percent around, or with commas. A comma is that of a decimal,
// or stands between thousands: which, says the column.
type looseNumbers struct {
	cells    int64
	decimals int64 // of these, cells in which the comma can only be that of a decimal
	grouped  bool  // in a cell commas can only be those between thousands
	dots     bool  // in one of the decimals a dot stands between thousands
	signs    [len(signs)]bool

	thousands, decimal spread // what the cells are where a comma is one or the other
}

// looseNumbers returns those of t.
func (t *tally) looseNumbers() *looseNumbers {
	if t.loose == nil {
		t.loose = &looseNumbers{}
	}
	return t.loose
}

func (n *looseNumbers) end() {
	n.thousands.end()
	n.decimal.end()
}

// merge adds the numbers of o, which come behind those of n.
func (n *looseNumbers) merge(o *looseNumbers) {
	n.cells, n.decimals, n.dots, n.grouped = n.cells+o.cells, n.decimals+o.decimals, n.dots || o.dots, n.grouped || o.grouped
	for i := range o.signs {
		n.signs[i] = n.signs[i] || o.signs[i]
	}
	n.thousands.merge(&o.thousands)
	n.decimal.merge(&o.decimal)
}

// mostLoose bounds the bytes of such a number.
const mostLoose = 64

// take counts a cell that is a number with a decimal comma, or with signs around or within.
func (n *looseNumbers) take(cell []byte, log bool) bool {
	var memory [mostLoose]byte
	var seen [len(signs)]bool
	if len(cell) > len(memory) {
		return false
	}
	bare := memory[:0] // without signs, with commas
	for rest := cell; len(rest) > 0; {
		sign := -1
		for i, s := range signs[:blank] {
			if bytes.HasPrefix(rest, []byte(s)) {
				sign = i
			}
		}
		switch {
		case sign >= 0:
			seen[sign] = true
			rest = rest[len(signs[sign]):]
			continue
		case rest[0] == ',':
			seen[comma] = true
		case rest[0] == ' ' && len(bare) > 0 && bytes.ContainsAny(rest, digits):
			if !isGroup(bare, rest[1:], seen[blank]) {
				return false
			}
			seen[blank] = true
		}
		if rest[0] != ' ' {
			bare = append(bare, rest[0])
		}
		rest = rest[1:]
	}
	var asThousands, asDecimal [mostLoose]byte
	thousands, ok := number(without(asThousands[:0], bare, ',', 0))
	if !ok {
		return false
	}
	decimal := thousands
	at := bytes.IndexByte(bare, ',')
	dot := bytes.IndexByte(bare, '.')
	if at >= 0 && dot < at && bytes.Count(bare, []byte{','}) == 1 {
		if v, ok := number(without(asDecimal[:0], bare, '.', ',')); ok {
			decimal = v
		}
	}
	n.cells++
	if at >= 0 && isDecimalComma(bare, at, dot) {
		n.decimals++
		n.dots = n.dots || dot >= 0
	}
	n.grouped = n.grouped || at >= 0 && (dot > at || bytes.Count(bare, []byte{','}) > 1)
	for i := range seen {
		n.signs[i] = n.signs[i] || seen[i]
	}
	n.thousands.add(thousands, log)
	n.decimal.add(decimal, log)
	return true
}

// isGroup reports whether a blank behind digits stands between thousands: three digits follow, and before the first blank
// are three at most. A blank behind a sign is well.
func isGroup(bare, rest []byte, again bool) bool {
	before := len(bare) - len(bytes.TrimRight(bare, digits))
	behind := len(rest) - len(bytes.TrimLeft(rest, digits))
	return before == 0 || behind == 0 || behind == 3 && (again || before <= 3)
}

// without appends a number without a mark, and with a dot in place of another one.
func without(dst, bare []byte, mark, dot byte) []byte {
	for _, c := range bare {
		switch {
		case c == mark:
		case c == dot:
			dst = append(dst, '.')
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// isDecimalComma reports whether the comma at a place can only be that of a decimal: it is the only one, and a dot
// is before it, or there is none and not three digits follow, or before it are not one to three without a 0 in front.
func isDecimalComma(bare []byte, at, dot int) bool {
	if bytes.IndexByte(bare[at+1:], ',') >= 0 || dot > at {
		return false
	}
	digits := 0
	for _, c := range bare[at+1:] {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	before := bytes.TrimLeft(bare[:at], "+-")
	return dot >= 0 || digits != 3 || len(before) == 0 || len(before) > 3 || before[0] == '0'
}

// isGuess reports whether no cell tells what the commas of the numbers are: 1,234 may be both.
func (n *looseNumbers) isGuess() bool {
	return n != nil && n.signs[comma] && n.decimals == 0 && !n.grouped
}

// describeNumbers describes the numbers of a column, and how they are written.
func (t *tally) describeNumbers() *Number {
	s := t.spread
	n := &Number{}
	if l := t.loose; l != nil && l.cells > 0 {
		for i, sign := range signs[:comma] {
			if l.signs[i] {
				n.Strip += sign
			}
		}
		n.Strip += t.unit.strip(n.Strip)
		switch {
		case l.decimals > 0:
			n.Decimal = ","
			if l.dots {
				n.Strip += "."
			}
			s.merge(&l.decimal)
		default:
			if l.signs[comma] {
				n.Strip += ","
			}
			s.merge(&l.thousands)
		}
	}
	n.Mean, n.Deviation, n.Min, n.Max = s.all.mean, s.all.deviation(), s.min, s.max
	before, after := math.Abs(s.all.skewness()), math.Abs(s.log.skewness())
	n.Skewed = before > skewed && after < before/2
	return n
}

// skewed is the skewness of an exponential distribution.
const skewed = 2
