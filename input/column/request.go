package column

import (
	"math"
	"slices"
	"strconv"
)

// List is the type of a list of a tf.Example.
type List int

// The lists.
const (
	NoList List = iota // the column is not sent
	Floats
	Integers
	Texts
)

// Request returns what a client sends of a record in a tf.Example: a cell for each of the Inputs, as a reader of a tf.Example
// makes it, with the lists that the graph of the model parses. A number has lost what float32 does not hold, and the form
// in which it was written. What is no number is not sent. The cells are copies.
func (r *Runner) Request(cells []Cell, lists []List) []Cell {
	sent := make([]Cell, len(cells))
	for at := range cells {
		c := &cells[at]
		switch lists[at] {
		case Floats:
			sent[at].Values = r.floats(c, at)
		case Integers:
			sent[at].IDs = r.integers(c, at)
		case Texts:
			sent[at] = c.written()
		}
	}
	return sent
}

// written returns a copy of a cell of texts, or of integers as texts.
func (c *Cell) written() (sent Cell) {
	var all [][]byte
	if len(c.Text) > 0 {
		all = append(all, slices.Clone(c.Text))
	}
	for _, text := range c.Texts {
		all = append(all, slices.Clone(text))
	}
	for _, id := range c.IDs {
		all = append(all, strconv.AppendInt(nil, id, 10))
	}
	if len(all) == 1 {
		return Cell{Text: all[0]}
	}
	return Cell{Texts: all}
}

// floats returns a float list: the values of ids, or one number.
func (r *Runner) floats(c *Cell, at int) []float32 {
	switch {
	case len(c.Values) > 0:
		return slices.Clone(c.Values)
	case hasValues(r.plan, at):
		return eachWord(c.Text, func(word []byte) (float32, bool) {
			v, err := c.number(word, 32)
			return float32(v), err == nil
		})
	}
	if v, ok := r.sent(c, at, 32); ok {
		return []float32{float32(v)}
	}
	return nil
}

// integers returns an int64 list: ids, or the seconds of a date.
func (r *Runner) integers(c *Cell, at int) []int64 {
	switch {
	case len(c.IDs) > 0:
		return slices.Clone(c.IDs)
	case !slices.ContainsFunc(r.plan.dates, func(d dateRule) bool { return d.input == at }):
		return eachWord(c.Text, func(word []byte) (int64, bool) {
			id, err := strconv.ParseInt(view(word), 10, 64)
			return id, err == nil
		})
	}
	if v, ok := r.sent(c, at, 64); ok {
		return []int64{int64(math.Floor(v))}
	}
	return nil
}

// sent returns the number of a cell. A number that is a word for missing is sent, too: the graph knows the words.
func (r *Runner) sent(c *Cell, at, bits int) (v float64, ok bool) {
	plain, words := Trimmed(c.Text), &r.plan.numberWords
	if word := words.find(plain); c.missing() || word >= 0 && words.values[word] != words.values[word] {
		return 0, false
	}
	if form := r.plan.forms[at]; len(plain) > 0 && !isPlain(form) {
		if plain, ok = r.plain(plain, form); !ok {
			return 0, false
		}
	}
	v, err := c.number(plain, bits)
	return v, err == nil
}

// hasValues reports whether an input of a plan is the values of ids.
func hasValues(p *Plan, at int) bool {
	return slices.ContainsFunc(p.bags, func(b bagRule) bool { return b.Values != "" && b.values == at })
}

// eachWord returns what read makes of each word of a text, none if one of them is nothing.
func eachWord[T any](text []byte, read func(word []byte) (T, bool)) (all []T) {
	for {
		var word []byte
		if word, text = nextWord(text); word == nil {
			return all
		}
		v, ok := read(word)
		if !ok {
			return nil
		}
		all = append(all, v)
	}
}
