package look

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringtrain/input/column"
)

// columnName returns the name of a column without a header.
func columnName(i int) string { return fmt.Sprintf("c%d", i+1) }

// A Column is what a pass has found of one column, and what becomes of it.
type Column struct {
	Name string `json:"column"`

	Records  int64   `json:"records"`
	Missing  []Value `json:"missing,omitempty"`   // words for missing that occur, among numbers and dates; among texts the empty cell
	Distinct int64   `json:"distinct"`            // values
	Estimate bool    `json:"estimate,omitempty"`  // Distinct is one
	Values   []Value `json:"values,omitempty"`    // the most frequent first; none of more than 100
	Numbers  *Number `json:"numbers,omitempty"`   // of a column of numbers
	OddCells int64   `json:"odd_cells,omitempty"` // that are no numbers among numbers, no dates among dates
	Odd      []Odd   `json:"odd,omitempty"`       // the first of these

	Becomes string `json:"becomes,omitempty"` // a kind of input.columns
	Why     string `json:"why,omitempty"`

	content content
	name    string // why it cannot be named in a job: "" if it can
	tally   *tally
	unique  bool
	isList  bool // several values in a record
	item    func(c *Column, names []string) column.Column
}

// A Number describes the numbers of a column.
type Number struct {
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"`
	Min       float64 `json:"min"`
	Max       float64 `json:"max"`
	Skewed    bool    `json:"skewed,omitempty"` // the logarithm is far less so
	Strip     string  `json:"strip,omitempty"`  // characters that are left out first
	Decimal   string  `json:"decimal,omitempty"`
}

// content is the sort of cells that a column mostly has.
type content int

const (
	empty content = iota
	numbers
	dates
	texts
)

// want says what a cell is to be.
func (c content) want() string { return [...]string{"nothing", "a number", "a date", "a text"}[c] }

// A column is of numbers or dates if all its cells are but one of fewOdd.
const fewOdd = 100

// describe makes a Column of what was counted. reads is how a job reads the column; empty: by its cells.
func describe(name string, t *tally, v *values, records int64, reads content) Column {
	c := Column{Name: name, Records: records, tally: t, unique: v.hashes.unique()}
	var exact bool
	c.Distinct, exact = v.hashes.count()
	c.Estimate = !exact
	c.Values = v.list()
	words := int64(0) // that are missing among numbers
	for i, n := range t.missing {
		if i > 0 {
			words += n
		}
	}
	t.takeUnit(c.Distinct > fewTexts || reads == numbers)
	loose := int64(0)
	if t.loose != nil {
		loose = t.loose.cells
	}
	cells := t.numbers + loose + t.dates + t.shaped + t.texts
	few := func(n int64) bool { return n > 0 && n <= cells/fewOdd }
	switch {
	case cells+words == 0:
		c.content = empty
	case reads != empty:
		c.content = reads
	case t.zeros > 0 && t.integers == t.numbers && loose == 0: // as a postcode
		c.content = texts
	case t.numbers+loose > 0 && (cells == t.numbers+loose || few(cells-t.numbers-loose)):
		c.content = numbers
	case t.dates > 0 && (cells == t.dates || few(cells-t.dates)):
		c.content = dates
	default:
		c.content = texts
	}
	written := append([]string{""}, column.MissingWords[:]...)
	for i, n := range t.missing {
		if n > 0 && (i == 0 || c.content != texts) {
			c.Missing = append(c.Missing, Value{written[i], n})
			if i > 0 && !c.Estimate {
				c.Distinct--
			}
		}
	}
	if c.content != texts {
		c.Values = slices.DeleteFunc(c.Values, func(v Value) bool { return column.MissingWord([]byte(v.Text)) >= 0 })
	}
	switch c.content {
	case numbers:
		c.Numbers = t.describeNumbers()
		c.Numbers.Skewed = c.Numbers.Skewed && c.Distinct > 2
		c.OddCells = cells - t.numbers - loose
	case dates:
		c.OddCells = cells - t.dates
	}
	if c.OddCells > 0 {
		c.Odd = t.odd
	}
	return c
}

// addMissing tells the empty cells of the column apart: some were words.
func (c *Column) addMissing(words map[string]int64) {
	for _, word := range slices.Sorted(maps.Keys(words)) {
		if n := words[word]; word != "" {
			c.Missing[0].Records -= n
			c.Missing = append(c.Missing, Value{word, n})
		}
	}
	c.Missing = slices.DeleteFunc(c.Missing, func(m Value) bool { return m.Records == 0 })
}

// Unusable reports whether a job cannot name the column.
func (c *Column) Unusable() bool { return c.name != "" }

// MissingCells returns the records that have nothing in the column.
func (c *Column) MissingCells() int64 { return c.Records - c.filled() }

// filled returns the records that have something in the column.
func (c *Column) filled() int64 {
	n := c.Records
	for _, m := range c.Missing {
		n -= m.Records
	}
	return n
}

// quoted lists values for people.
func quoted(all []Value, most int) string {
	var b strings.Builder
	for i, v := range all[:min(len(all), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(v.Text)
	}
	if len(all) > most {
		b.WriteString(", …")
	}
	return b.String()
}
