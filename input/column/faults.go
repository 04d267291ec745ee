package column

import (
	"errors"
	"fmt"
	"slices"

	"ringtrain/input"
	"ringtrain/model/graph"
)

// An InputError is the fault of a record in one of the plan's Inputs.
type InputError struct {
	Input  int // its place
	Column string
	Err    error
}

func (e *InputError) Error() string { return fmt.Sprintf("column %s %v", e.Column, e.Err) }

func (e *InputError) Unwrap() error { return e.Err }

// A Checker finds the faults of records. One goroutine at a time may use it.
type Checker struct {
	plan    *Plan
	runner  *Runner // of what may be at fault
	numeric []bool  // of each input: it is read as a number
	open    []bool  // of a record: it is, and no plain number
	numbers []float64
	cells   []Cell
}

// NewChecker returns a checker of records that a plan is to learn from, or knows all of. areTexts says that all cells are
// texts: those of a hash are then as they are to be.
func NewChecker(p *Plan, labels input.Labels, areTexts bool) *Checker {
	checked := *p
	if areTexts && !p.Trim && len(p.textWords.list) == 0 {
		checked.bags = slices.DeleteFunc(slices.Clone(p.bags), func(b bagRule) bool { return b.Kind == graph.Hash && !b.List })
	}
	l := NewLearner(&checked, labels)
	return &Checker{plan: p, runner: l.runner, numeric: l.numeric, open: make([]bool, len(p.Inputs)), numbers: make([]float64, len(p.Inputs))}
}

// Reads reports whether an input is read as a number, and as nothing else.
func (c *Checker) Reads(input int) bool { return c.numeric[input] && !c.plan.is(input, asText) }

// Faults calls visit for each input of a record, the cells of the plan's Inputs, that is not as it is to be. plain says
// which cells are known to be numbers of digits, sign, dot and exponent in the range of float32.
func (c *Checker) Faults(cells []Cell, plain []bool, visit func(input int, err error)) {
	for i := range plain {
		c.open[i] = c.numeric[i] && (!plain[i] || c.plan.slow[i])
	}
	for last := -1; ; {
		err := c.runner.check(cells, c.open, c.numbers)
		fault, is := errors.AsType[*InputError](err)
		if !is || fault.Input == last {
			return // none, or the label, which is missing then
		}
		visit(fault.Input, fault.Err)
		if last < 0 {
			c.cells = append(c.cells[:0], cells...)
			cells = c.cells
		}
		last, cells[fault.Input] = fault.Input, Cell{}
	}
}

// EachMissing calls visit for each input that is missing without being empty, in the record that Faults has seen last:
// by a word of input.missing, or "" for blanks.
func (c *Checker) EachMissing(visit func(input int, word string)) {
	for _, a := range c.runner.absent {
		word := ""
		if a.word >= 0 {
			word = c.plan.numberWords.list[a.word]
		}
		visit(a.input, word)
	}
}

// IsDate reports whether an input is read as a date.
func (c *Checker) IsDate(input int) bool { return c.plan.is(input, asDate) }

// IsMissing reports whether a text is a word of input.missing.
func (c *Checker) IsMissing(text string) bool { return c.plan.textWords.find([]byte(text)) >= 0 }

// Hashes reports whether the texts of an input have ids by a hash.
func (c *Checker) Hashes(input int) bool { return c.plan.is(input, asHash) }
