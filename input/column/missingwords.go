package column

import (
	"bytes"
	"slices"

	"ringtrain/model/graph"
)

// MissingWords are the cells that count as missing among numbers and dates where input.missing lists no
// others: those of pandas' read_csv, MySQL's \N and a question mark. The empty cell always is missing.
var MissingWords = [...]string{
	"#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
	`\N`, "?",
}

// blanks are the characters around a number that do not count, as TensorFlow's StringStrip has them.
const blanks = " \t\n\v\f\r"

// trimmed returns a text without the blanks around it.
func Trimmed(text []byte) []byte {
	if n := len(text); n == 0 || text[0] > ' ' && text[n-1] > ' ' {
		return text
	}
	return bytes.Trim(text, blanks)
}

// A wordSet has the texts that are missing cells. The zero value has the empty one alone.
type wordSet struct {
	list        []string
	first, last [256]bool // of the list: first and last characters

	values    []float32 // of the list: words that are numbers, else NaN
	hasValues bool
}

func newWords(list []string) wordSet {
	w := wordSet{list: slices.DeleteFunc(slices.Clone(list), func(word string) bool { return word == "" })}
	for _, word := range w.list {
		w.first[word[0]], w.last[word[len(word)-1]] = true, true
	}
	w.values = graph.WordNumbers(w.list)
	w.hasValues = slices.ContainsFunc(w.values, func(v float32) bool { return v == v })
	return w
}

// find returns the place of a text among the words, -1 for another one.
func (w *wordSet) find(text []byte) int {
	if len(text) == 0 || !w.first[text[0]] || !w.last[text[len(text)-1]] {
		return -1
	}
	for i, word := range w.list {
		if string(text) == word {
			return i
		}
	}
	return -1
}

var usualWords = newWords(MissingWords[:])

// MissingWord returns the place of a text in MissingWords, -1 for another one.
func MissingWord(text []byte) int { return usualWords.find(text) }

// value returns the place of a number among the words, -1 for another one. Numbers are compared as float32,
// which a tf.Example has.
func (w *wordSet) value(v float64) int {
	if !w.hasValues {
		return -1
	}
	return slices.Index(w.values, float32(v))
}

// SetMissing says which cells are missing besides the empty ones: of numbers and of texts. Without a list
// those of numbers are [MissingWords], and texts have none.
func (p *Plan) SetMissing(list []string) {
	numbers := list
	if len(list) == 0 {
		numbers = MissingWords[:]
	}
	p.numberWords, p.textWords = newWords(numbers), newWords(list)
	p.slow = make([]bool, len(p.Inputs))
	for at := range p.slow {
		p.slow[at] = p.numberWords.hasValues || !isPlain(p.forms[at])
	}
}

// absence is a cell of a record that is missing without being empty.
type absence struct{ input, word int } // word: a place in numberWords, as in textWords if these have some; −1: blanks

// note notes that an input of the record is missing, once.
func (r *Runner) note(input, word int) {
	for _, a := range r.absent {
		if a.input == input {
			return
		}
	}
	r.absent = append(r.absent, absence{input, word})
}

// SplitCell returns the cell by which records are divided: without blanks around it if the plan trims texts, and empty
// where it is missing. byValue says that the cell may be a number or a date, around which blanks never count.
func (p *Plan) SplitCell(cell []byte, byValue bool) []byte {
	words := &p.textWords
	if byValue {
		words = &p.numberWords
	}
	if byValue || p.Trim {
		cell = Trimmed(cell)
	}
	if words.find(cell) >= 0 {
		return nil
	}
	return cell
}
