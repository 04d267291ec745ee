package look

import (
	"bytes"
	"math"
	"unicode/utf8"

	"ringtrain/input/column"
	"ringtrain/input/internal/farmhash"
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
	missing  [1 + len(column.MissingWords)]int64 // empty cells, then by word
	numbers  int64                               // cells that are plain numbers
	integers int64                               // of these, whole ones
	zeros    int64                               // of these, with a 0 in front of other digits
	dates    int64
	shaped   int64  // shaped as dates, and no days
	layouts  uint32 // that all dates fit, without any: all
	clocks   bool   // a date has a time of day other than midnight
	texts    int64  // all other cells
	huge     int64  // of these, numbers beyond the range of float32
	words    int64  // in these
	lists    int64  // texts with a separator of lists within
	padded   int64  // texts with blanks around
	foreign  Odd    // the first text that is no UTF-8, and how many are so

	spread // of the plain numbers
	loose  *looseNumbers
	unit   *unit // of the texts, if all are numbers with a word

	first, last float64 // numbers, in order
	broken      bool    // the next number is not always larger by one

	odd []Odd // mostOdd at most
}

// add takes a cell, and reports whether it is odd: a text, no day, or a date that no layout of those before
// fits. log says whether the logarithm of a number is taken into account.
func (t *tally) add(r *reading, d *dater, log bool) (odd bool) {
	cell := r.text
	if r.kind == plainNumber {
		t.number(r.number, log)
		if cell[0] == '0' && len(cell) > 1 && cell[1] >= '0' && cell[1] <= '9' {
			t.zeros++
		}
		return false
	}
	if len(cell) == 0 {
		t.missing[0]++
		return false
	}
	if w := column.MissingWord(cell); w >= 0 {
		t.missing[1+w]++
		return false
	}
	switch {
	case r.marks&dateMark != 0 && dateShaped(cell):
		return !t.date(cell, d)
	case r.kind == anyNumber && t.looseNumbers().take(cell, log):
		return false
	case r.kind == hugeNumber:
		t.huge++
	}
	t.unitNumber(cell, log)
	t.text(cell, r.marks)
	return true
}

// plainText takes a cell that a job reads as a text: nothing is chosen by what is in it.
func (t *tally) plainText(cell []byte) {
	if len(cell) == 0 {
		t.missing[0]++
	} else {
		t.texts++
	}
}

func (t *tally) number(v float64, log bool) {
	if t.numbers == 0 {
		t.first = v
	} else if v != t.last+1 {
		t.broken = true
	}
	t.last = v
	t.numbers++
	if v == math.Trunc(v) {
		t.integers++
	}
	t.spread.add(v, log)
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
	if clock := bytes.IndexAny(cell, " T"); clock > 0 {
		t.clocks = t.clocks || bytes.ContainsAny(cell[clock:], "123456789")
	}
	t.layouts = alive & fit
	t.dates++
	return t.layouts != 0
}

func (t *tally) text(cell []byte, marks uint8) {
	t.texts++
	t.words++
	if marks&(blankMark|barMark|highMark) == 0 {
		return // one word of ASCII
	}
	within, isList := true, marks&barMark != 0 && cell[0] != listSeparator
	for _, c := range cell {
		isWord := marksOf[c]&(blankMark|barMark) == 0
		if isWord && !within {
			t.words++
		}
		within = isWord || c == listSeparator
	}
	if isList {
		t.lists++
	}
	if marks&highMark != 0 && !utf8.Valid(cell) {
		t.foreign.Records++
	}
}

// listSeparator stands between the texts of a list in a cell.
const listSeparator = '|'

// end ends a part.
func (t *tally) end() {
	t.spread.end()
	if t.loose != nil {
		t.loose.end()
	}
	if t.unit != nil {
		t.unit.end()
	}
}

// merge adds the records of o, which come behind those of t.
func (t *tally) merge(o *tally) {
	for i, n := range o.missing {
		t.missing[i] += n
	}
	if o.numbers > 0 {
		if t.numbers == 0 {
			t.first = o.first
		} else if o.first != t.last+1 {
			t.broken = true
		}
		t.last = o.last
		t.broken = t.broken || o.broken
	}
	if o.dates > 0 {
		if t.dates == 0 {
			t.layouts = anyLayout
		}
		t.layouts &= o.layouts
		t.clocks = t.clocks || o.clocks
	}
	t.spread.merge(&o.spread)
	if o.loose != nil {
		t.looseNumbers().merge(o.loose)
	}
	t.mergeUnit(o.unit)
	t.numbers, t.integers, t.zeros = t.numbers+o.numbers, t.integers+o.integers, t.zeros+o.zeros
	t.dates, t.shaped, t.texts, t.words = t.dates+o.dates, t.shaped+o.shaped, t.texts+o.texts, t.words+o.words
	t.lists, t.padded, t.huge = t.lists+o.lists, t.padded+o.padded, t.huge+o.huge
	if t.foreign.Records == 0 {
		t.foreign = o.foreign
	} else {
		t.foreign.Records += o.foreign.Records
	}
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
func (t *tally) reset() {
	*t = tally{odd: t.odd[:0], loose: t.loose}
	if t.loose != nil {
		*t.loose = looseNumbers{}
	}
}

// hash returns the hash of a value.
func hash(cell []byte) uint64 { return farmhash.Fingerprint64(cell) }
