package look

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A unit is a word that all texts of a column have before or behind a number: CHF 1,234.50, 12 kg. Codes such as A12 and
// "Room 12" have none.
type unit struct {
	before, after string // with the blanks next to the number
	looseNumbers         // of the texts
}

// digits begin a number, and end it.
const digits = "0123456789"

// currencies stand before a number as three capital letters do.
var currencies = [...]string{"kr", "Kr", "Fr", "Rs"}

// unitNumber counts a text that is a number with the word of all texts before it.
func (t *tally) unitNumber(cell []byte, log bool) {
	switch {
	case t.unit == nil && t.texts > 0, t.unit != nil && t.unit.cells < t.texts:
		return // one before is none
	case t.unit == nil:
		first, last := bytes.IndexAny(cell, digits), bytes.LastIndexAny(cell, digits)
		if first < 0 {
			return
		}
		before := bytes.TrimRight(cell[:first], "+-.,")
		if !isUnit(string(before), string(cell[last+1:])) {
			return
		}
		t.unit = &unit{before: string(before), after: string(cell[last+1:])}
	}
	number, ok := bytes.CutPrefix(cell, []byte(t.unit.before))
	if number, ok2 := bytes.CutSuffix(number, []byte(t.unit.after)); ok && ok2 && !bytes.ContainsAny(number, "eE") {
		t.unit.take(number, log)
	}
}

// isUnit reports whether what stands before a number, or behind it, is a word of its own: before it that of a currency and
// a blank, behind it letters as those of km/h, €/m² and °C, at least two if no blank is before them.
func isUnit(before, after string) bool {
	if before != "" {
		word := strings.TrimRight(before, " ")
		isCode := len(word) == 3 && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == ""
		return after == "" && word != before && (isCode || slices.Contains(currencies[:], word))
	}
	word := strings.TrimLeft(after, " ")
	isOther := func(c rune) bool {
		return !unicode.IsLetter(c) && !strings.ContainsRune("/²³°€$£", c) || c == utf8.RuneError
	}
	return word != "" && strings.IndexFunc(word, isOther) < 0 && (word != after || utf8.RuneCountInString(word) > 1)
}

// mergeUnit takes a unit of the texts behind those of t.
func (t *tally) mergeUnit(o *unit) {
	switch {
	case o == nil:
	case t.unit == nil && t.texts == 0:
		t.unit = o
	case t.unit != nil && t.unit.before == o.before && t.unit.after == o.after:
		t.unit.merge(&o.looseNumbers)
	}
}

// takeUnit makes numbers of the texts, if these are many and all cells are numbers with one word. No plain number is among
// them: it may have an exponent, of which a word with an e would take the e.
func (t *tally) takeUnit(many bool) {
	u := t.unit
	if u == nil || !many || u.cells < t.texts || t.numbers+t.dates+t.shaped > 0 || t.loose != nil && t.loose.cells > 0 {
		t.unit = nil
		return
	}
	t.looseNumbers().merge(&u.looseNumbers)
	t.texts = 0
}

// strip returns the characters of the word and its blank, but for those that are there already.
func (u *unit) strip(has string) (more string) {
	if u == nil {
		return ""
	}
	for _, c := range u.before + u.after {
		if !strings.ContainsRune(has+more, c) {
			more += string(c)
		}
	}
	return more
}
