package column

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"unsafe"

	"ringtrain/input"
	"ringtrain/input/text"
	"ringtrain/ring/phrase"
)

// Cell is what a record has in a column. Text stands for a text, or for a number as it was
// written; an empty one is missing. Texts, IDs and Values are those of a tf.Example, which has lists: Texts
// are two or more, and Text is empty then. Doubles are numbers of a file whose columns have types: see [Form].
type Cell struct {
	Text    []byte
	Texts   [][]byte
	IDs     []int64
	Values  []float32
	Doubles []float64
	Prints  []uint64 // fingerprints of texts, as a hash takes them; that of an empty one is 0
}

// listed returns how many values the cell has apart from Text.
func (c *Cell) listed() int {
	return len(c.Texts) + len(c.IDs) + len(c.Values) + len(c.Doubles) + len(c.Prints)
}

// number reads an input of a record as a finite float32, and returns missing where the record has none.
func (r *Runner) number(cells []Cell, at int, missing float32) (float32, error) {
	c := &cells[at]
	if n := len(c.Text); n > 0 && cap(c.Text)-n >= text.Pad && !r.plan.slow[at] { // quick, which is not inlined
		if v, length := text.Float32(c.Text[:n+text.Pad]); length == n {
			return v, nil
		}
	}
	v, err := r.read(c, at, 32, float64(missing))
	return float32(v), err
}

// typed is the number of a cell that has one, as number reads it. ok is false if it cannot tell.
func (r *Runner) typed(c *Cell, at int) (v float64, ok bool) {
	if len(c.Doubles) != 1 || r.plan.slow[at] {
		return 0, false
	}
	v = c.Doubles[0]
	exponent := math.Float32bits(float32(v)) >> 23 & 0xff
	if exponent == 0 {
		v = 0 // below the normal numbers
	}
	return v, exponent < 0xff
}

// double is number before it is rounded to float32, whose range it keeps.
func (r *Runner) double(cells []Cell, at int, missing float64) (float64, error) {
	c := &cells[at]
	if n := len(c.Text); n > 0 && cap(c.Text)-n >= text.Pad && !r.plan.slow[at] {
		if v, length := text.Float64(c.Text[:n+text.Pad]); length == n {
			return v, nil
		}
	}
	if v, ok := r.typed(c, at); ok {
		return v, nil
	}
	return r.read(c, at, 64, missing)
}

// quick reads a number behind which text.Pad bytes may be read, by text.Float32 or Float64. ok is false if it cannot tell.
func quick[T float32 | float64](t []byte, read func([]byte) (T, int)) (v float64, ok bool) {
	n := len(t)
	if n == 0 || cap(t)-n < text.Pad {
		return 0, false
	}
	x, length := read(t[:n+text.Pad])
	return float64(x), length == n
}

// read is number and double without what is quick.
func (r *Runner) read(c *Cell, at, bits int, missing float64) (v float64, err error) {
	if c.missing() {
		return missing, nil
	}
	w := &r.plan.numberWords
	plain := Trimmed(c.Text)
	word := w.find(plain)
	if len(c.Values) == 1 && c.Values[0] != c.Values[0] {
		word = w.find([]byte("NaN"))
	}
	if word >= 0 || len(plain) == 0 && len(c.Text) > 0 {
		r.note(at, word)
		return missing, nil
	}
	if form := r.plan.forms[at]; len(plain) > 0 && !isPlain(form) {
		var ok bool
		if plain, ok = r.plain(plain, form); !ok {
			return 0, fmt.Errorf("is %s, want a number with the decimal %s", phrase.Quote(string(c.Text)), form.Decimal)
		}
	}
	v, err = c.number(plain, bits)
	if word = w.value(v); err == nil && word >= 0 {
		r.note(at, word)
		return missing, nil
	}
	return v, err
}

// number is the number of a cell that is not missing; plain is its text without blanks around it.
func (c *Cell) number(plain []byte, bits int) (v float64, err error) {
	switch {
	case c.listed() > 1:
		return 0, c.list()
	case len(c.Doubles) == 1:
		if v = c.Doubles[0]; math.IsInf(float64(float32(v)), 0) && !math.IsInf(v, 0) {
			return 0, fmt.Errorf("is %g, want a number in the range of float32", v)
		}
	case len(c.Values) == 1:
		v = float64(c.Values[0])
	case len(c.IDs) == 1:
		v = float64(c.IDs[0])
	default:
		var ok bool
		if bits == 32 {
			v, ok = quick(plain, text.Float32)
		} else {
			v, ok = quick(plain, text.Float64)
		}
		if ok {
			return v, nil
		}
		v, err = text.ParseFloat(plain, bits)
		if errors.Is(err, strconv.ErrRange) || err == nil && math.IsInf(float64(float32(v)), 0) && !math.IsInf(v, 0) {
			return 0, fmt.Errorf("is %s, want a number in the range of float32", phrase.Quote(string(c.Text)))
		}
		if err != nil {
			return 0, fmt.Errorf("is %s, want a number", phrase.Quote(string(c.Text)))
		}
	}
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("is %g, want a finite number", v)
	}
	if input.Normal(float32(v)) == 0 {
		return 0, nil
	}
	return v, nil
}

// missing reports whether a record has nothing in the column.
func (c *Cell) missing() bool { return len(c.Text) == 0 && c.listed() == 0 }

// list is the error of a list where one value is wanted.
func (c *Cell) list() error {
	return fmt.Errorf("is a list of %d, want one value", c.listed())
}

// text is the text of an input of a record, without blanks around it if the plan trims texts, and empty where
// it is missing.
func (r *Runner) text(c *Cell, at int) ([]byte, error) {
	if len(c.Text) > 0 && r.asIs {
		return c.Text, nil
	}
	return r.textOf(c, at)
}

// textOf is text without what is quick.
func (r *Runner) textOf(c *Cell, at int) ([]byte, error) {
	all, err := c.text(&r.digits)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	text := r.trimmed(all)
	if word := r.plan.textWords.find(text); word >= 0 || len(text) == 0 {
		r.note(at, word)
		return nil, nil
	}
	return text, nil
}

// trimmed returns a text without the blanks around it if the plan trims texts.
func (r *Runner) trimmed(text []byte) []byte {
	if r.plan.Trim {
		return Trimmed(text)
	}
	return text
}

// text is the cell as a text, empty where it is missing. An integer of a tf.Example is written
// into memory.
func (c *Cell) text(memory *[]byte) ([]byte, error) {
	switch {
	case len(c.Texts)+len(c.IDs) > 1:
		return nil, c.list()
	case len(c.Values)+len(c.Doubles) > 0:
		return nil, errors.New("is a float, want a text or an integer")
	case len(c.IDs) == 1:
		*memory = strconv.AppendInt((*memory)[:0], c.IDs[0], 10)
		return *memory, nil
	}
	return c.Text, nil
}

// Written returns the cell as a file of text has it, empty where it is missing or a list of several. A number of a
// tf.Example is written into memory.
func (c *Cell) Written(memory *[]byte) []byte {
	switch {
	case c.listed() > 1:
		return nil
	case len(c.IDs) == 1:
		*memory = strconv.AppendInt((*memory)[:0], c.IDs[0], 10)
		return *memory
	case len(c.Doubles) == 1:
		*memory = strconv.AppendFloat((*memory)[:0], c.Doubles[0], 'f', -1, 64)
		return *memory
	case len(c.Values) == 1:
		*memory = strconv.AppendFloat((*memory)[:0], float64(c.Values[0]), 'f', -1, 32)
		return *memory
	}
	return c.Text
}

// view is b as a string, as long as b stays as it is.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
