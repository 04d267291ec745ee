package look

import (
	"bytes"
	"math"

	"ringtrain/input/internal/farmhash"
	"ringtrain/input/text"
)

// mostOdd bounds the odd cells of a column that are kept.
const mostOdd = 8

// Odd is a cell that is not like most of its column, with the place of the first one.
type Odd struct {
	Text    string `json:"text"`
	File    string `json:"file"`
	Line    int64  `json:"line"`
	Records int64  `json:"records"`
}

// A tally has what the cells of a column are, over a part of the records or all. Its zero value has seen none.
type tally struct {
	missing  [len(missingWords)]int64 // by word
	numbers  int64                    // cells that are plain numbers
	integers int64                    // of these, whole ones
	commas   int64                    // numbers with a decimal comma
	stripped int64                    // numbers with signs of money or percent, or commas between thousands
	dates    int64
	shaped   int64  // shaped as dates, and no days
	layouts  uint32 // that all dates fit, without any: all
	signs    [len(signs)]bool
	texts    int64 // all other cells
	words    int64 // in these
	lists    int64 // texts with a separator of lists within
	padded   int64 // texts with blanks around

	sums, logs sums // of a part
	all, log   moments
	min, max   float64

	first, last float64 // numbers, in order
	broken      bool    // the next number is not always larger by one

	odd []Odd // mostOdd at most
}

// missingWords are the words that count as missing among numbers and dates, the empty cell first.
var missingWords = [...]string{
	"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
	`\N`, "?",
}

// signs may stand around the digits of a number.
var signs = [...]string{"$", "€", "£", "%", ","}

// missingWord returns the place of a word in missingWords, -1 for another text.
func missingWord(cell []byte) int {
	switch cell[0] {
	case '#', '-', '1', '<', 'N', 'n', '\\', '?':
	default:
		return -1
	}
	if len(cell) > 9 {
		return -1
	}
	for i, w := range missingWords {
		if string(cell) == w {
			return i
		}
	}
	return -1
}

// cellKind is what the characters of a cell allow.
type cellKind uint8

const (
	plainNumber cellKind = iota // digits, signs, a dot and an exponent alone
	anyNumber                   // also signs of money and percent, commas and blanks
	noNumber
)

// kindOf returns the kind of a cell by its characters.
func kindOf(cell []byte) cellKind {
	kind, digit := plainNumber, false
	for _, c := range cell {
		switch {
		case c >= '0' && c <= '9':
			digit = true
		case c == '.', c == '-', c == '+', c|0x20 == 'e':
		case c == ',', c == ' ', c == '$', c == '%', c >= 0x80:
			kind = anyNumber
		default:
			return noNumber
		}
	}
	if !digit {
		return noNumber
	}
	return kind
}

// number reads a plain number of a cell behind which text.Pad bytes may be read if its capacity says so.
func number(cell []byte) (float64, bool) {
	if len(cell) == 0 || cell[0] > '9' {
		return 0, false
	}
	if n := len(cell); cap(cell)-n >= text.Pad {
		if v, length := text.Float64(cell[:n+text.Pad]); length == n {
			return v, true
		}
	}
	if kindOf(cell) != plainNumber {
		return 0, false
	}
	v, err := text.ParseFloat(cell, 64)
	return v, err == nil && !math.IsInf(float64(float32(v)), 0) && !math.IsNaN(v)
}

// add takes a cell, and reports whether it is odd: a text, no day, or a date that no layout of those before
// fits. log says whether the logarithm of a number is taken into account.
func (t *tally) add(r *reading, d *dater, log bool) (odd bool) {
	if r.isNumber {
		t.number(r.number, log)
		return false
	}
	cell := r.text
	if len(cell) == 0 {
		t.missing[0]++
		return false
	}
	if w := missingWord(cell); w >= 0 {
		t.missing[w]++
		return false
	}
	switch {
	case dateShaped(cell):
		return !t.date(cell, d)
	case kindOf(cell) == anyNumber && t.looseNumber(cell):
		return false
	}
	t.text(cell)
	return true
}

func (t *tally) number(v float64, log bool) {
	if t.numbers == 0 {
		t.min, t.max, t.first = v, v, v
	} else if v != t.last+1 {
		t.broken = true
	}
	if v < t.min {
		t.min = v
	} else if v > t.max {
		t.max = v
	}
	t.last = v
	t.numbers++
	if v == math.Trunc(v) {
		t.integers++
	}
	t.sums.add(v)
	if log {
		t.logs.add(math.Copysign(math.Log1p(math.Abs(v)), v))
	}
}

// date counts a cell that is shaped as a date, and reports whether a layout of those before fits it.
func (t *tally) date(cell []byte, d *dater) bool {
	alive := t.layouts
	if t.dates == 0 {
		alive = anyLayout
	}
	fit := d.layoutsOf(cell, alive)
	if fit == 0 && alive != anyLayout {
		fit = d.layoutsOf(cell, anyLayout)
	}
	if fit == 0 {
		t.shaped++
		return false
	}
	t.layouts = alive & fit
	t.dates++
	return t.layouts != 0
}

// looseNumber counts a number with a decimal comma, or with signs around or within.
func (t *tally) looseNumber(cell []byte) bool {
	plain := make([]byte, 0, 64)
	var seen [len(signs)]bool
	if len(cell) > cap(plain) {
		return false
	}
	for rest := cell; len(rest) > 0; {
		sign := -1
		for i, s := range signs {
			if bytes.HasPrefix(rest, []byte(s)) {
				sign = i
			}
		}
		switch {
		case sign >= 0:
			seen[sign] = true
			rest = rest[len(signs[sign]):]
		case rest[0] == ' ':
			rest = rest[1:]
		default:
			plain = append(plain, rest[0])
			rest = rest[1:]
		}
	}
	if len(plain) == 0 {
		return false
	}
	if _, ok := number(plain); !ok {
		return false
	}
	if comma := bytes.IndexByte(cell, ','); comma >= 0 && isDecimalComma(cell, comma) {
		t.commas++
	} else {
		t.stripped++
	}
	for i := range seen {
		t.signs[i] = t.signs[i] || seen[i]
	}
	return true
}

// isDecimalComma reports whether the comma at a place can only be that of a decimal: it is one, and not
// three digits follow it.
func isDecimalComma(cell []byte, comma int) bool {
	digits := 0
	for _, c := range cell[comma+1:] {
		if c >= '0' && c <= '9' {
			digits++
		}
	}
	return bytes.Count(cell, []byte{','}) == 1 && bytes.IndexByte(cell, '.') < 0 && digits != 3
}

func (t *tally) text(cell []byte) {
	t.texts++
	t.words++
	within, isList := true, false
	for _, c := range cell {
		if c > ' ' && c != listSeparator {
			if !within {
				t.words++
			}
			within = true
			continue
		}
		isList = isList || c == listSeparator
		within = c == listSeparator
	}
	if isList && cell[0] != listSeparator {
		t.lists++
	}
}

// listSeparator stands between the texts of a list in a cell.
const listSeparator = '|'

// end makes moments of the sums of a part.
func (t *tally) end() { t.all, t.log = t.sums.moments(), t.logs.moments() }

// merge adds the records of o, which come behind those of t.
func (t *tally) merge(o *tally) {
	for i, n := range o.missing {
		t.missing[i] += n
	}
	if o.numbers > 0 {
		if t.numbers == 0 {
			t.min, t.max, t.first = o.min, o.max, o.first
		} else if o.first != t.last+1 {
			t.broken = true
		}
		t.min, t.max, t.last = min(t.min, o.min), max(t.max, o.max), o.last
		t.broken = t.broken || o.broken
	}
	if o.dates > 0 {
		if t.dates == 0 {
			t.layouts = anyLayout
		}
		t.layouts &= o.layouts
	}
	t.all.merge(o.all)
	t.log.merge(o.log)
	for i := range o.signs {
		t.signs[i] = t.signs[i] || o.signs[i]
	}
	t.numbers, t.integers, t.commas, t.stripped = t.numbers+o.numbers, t.integers+o.integers, t.commas+o.commas, t.stripped+o.stripped
	t.dates, t.shaped, t.texts, t.words = t.dates+o.dates, t.shaped+o.shaped, t.texts+o.texts, t.words+o.words
	t.lists, t.padded = t.lists+o.lists, t.padded+o.padded
	for _, odd := range o.odd {
		t.addOdd(odd)
	}
}

// addOdd counts an odd cell, if it is known or there is room for one more.
func (t *tally) addOdd(odd Odd) {
	for i := range t.odd {
		if t.odd[i].Text == odd.Text {
			t.odd[i].Records += odd.Records
			return
		}
	}
	if len(t.odd) < mostOdd {
		t.odd = append(t.odd, odd)
	}
}

// reset empties t for another part.
func (t *tally) reset() { *t = tally{odd: t.odd[:0]} }

// hash returns the hash of a value.
func hash(cell []byte) uint64 { return farmhash.Fingerprint64(cell) }
