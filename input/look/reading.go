package look

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringtrain/input/column"
	"ringtrain/input/text"
)

// A reading is what a cell is at first sight.
type reading struct {
	cell   []byte // as it is in the record
	text   []byte // without the blanks around
	marks  uint8  // of all bytes of text; 0 of a cell that a job reads as a text
	kind   cellKind
	number float64 // a plain one
}

// cellKind is whether a cell is a number.
type cellKind uint8

const (
	noNumber    cellKind = iota
	plainNumber          // of digits, signs, a dot and an exponent alone
	hugeNumber           // such a one beyond the range of float32
	anyNumber            // by its characters, with signs of money and percent, commas and blanks
)

// read makes r the reading of a cell.
func (r *reading) read(cell []byte) {
	r.cell, r.text = cell, column.Trimmed(cell)
	r.marks = marksIn(r.text)
	r.number, r.kind = numberWith(r.marks, r.text)
}

// readText makes r the reading of a cell that a job reads as a text.
func (r *reading) readText(cell []byte) { *r = reading{cell: cell, text: column.Trimmed(cell)} }

// number reads a plain number.
func number(cell []byte) (float64, bool) {
	v, kind := numberOf(cell)
	return v, kind == plainNumber
}

// numberOf returns the kind of a cell, behind which text.Pad bytes may be read if its capacity says so.
func numberOf(cell []byte) (float64, cellKind) { return numberWith(marksIn(cell), cell) }

// numberWith is numberOf of a cell with marks.
func numberWith(marks uint8, cell []byte) (float64, cellKind) {
	if len(cell) == 0 || marks&letterMark != 0 {
		return 0, noNumber
	}
	if n := len(cell); cap(cell)-n >= text.Pad {
		if v, length := text.Float64(cell[:n+text.Pad]); length == n {
			return v, plainNumber
		}
	}
	kind := kindOf(cell)
	if kind != plainNumber {
		return 0, kind
	}
	v, err := text.ParseFloat(cell, 64)
	switch {
	case errors.Is(err, strconv.ErrRange), err == nil && math.IsInf(float64(float32(v)), 0):
		return 0, hugeNumber
	case err != nil:
		return 0, noNumber
	}
	return v, plainNumber
}

// kindOf returns the kind of a cell without letters by its characters: plainNumber, anyNumber or noNumber.
func kindOf(cell []byte) cellKind {
	kind, digit, dots := plainNumber, false, 0
	for i, c := range cell {
		switch {
		case c >= '0' && c <= '9':
			digit = true
		case c == '.':
			dots++
		case c == '-', c == '+':
			if i > 0 && kind == plainNumber && cell[i-1] >= '0' && cell[i-1] <= '9' {
				return noNumber // as of a date
			}
		case c|0x20 == 'e':
		default:
			kind = anyNumber
		}
	}
	if !digit || kind == plainNumber && dots > 1 {
		return noNumber
	}
	return kind
}

// Marks of the bytes of a text.
const (
	blankMark  uint8 = 1 << iota
	barMark          // separator of lists
	highMark         // of no ASCII
	dateMark         // stands between the numbers of a date
	letterMark       // no number has it: letters but e, and others
)

// marksOf has the marks of each byte.
var marksOf = func() (of [256]uint8) {
	for c := range of {
		switch {
		case c <= ' ':
			of[c] = blankMark
		case c == listSeparator:
			of[c] = barMark
		case c >= utf8.RuneSelf:
			of[c] = highMark
		case strings.IndexByte(dateMarks, byte(c)) >= 0:
			of[c] = dateMark
		}
		if c < utf8.RuneSelf && strings.IndexByte("0123456789.-+eE, $%", byte(c)) < 0 {
			of[c] |= letterMark
		}
	}
	return of
}()

// marksIn returns the marks of all bytes of a text.
func marksIn(cell []byte) (marks uint8) {
	for _, c := range cell {
		marks |= marksOf[c]
	}
	return marks
}
