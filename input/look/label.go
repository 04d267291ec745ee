package look

import (
	"fmt"
	"slices"
	"strings"

	"ringtrain/input/column"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// labelNames are the names by which a label is found.
var labelNames = [...]string{"label", "target", "class", "y", "churn", "clicked", "survived"}

// mostClasses bounds the classes of a label.
const mostClasses = mostValues

// findLabel returns the place of the label among the names of columns: the one that is asked for, else the
// one with a name that labels have.
func findLabel(names []string, label string) (int, error) {
	fail := func(format string, args ...any) (int, error) {
		return -1, exitcode.With(exitcode.Usage, fmt.Errorf(format, args...))
	}
	if label != "" {
		at := slices.Index(names, label)
		switch {
		case at < 0:
			return fail("--label %s: no such column%s; the columns are %s", label, phrase.DidYouMean(label, names), namesShown(names))
		case slices.Contains(names[at+1:], label):
			return fail("--label %s: two columns have this name, want one", label)
		}
		return at, nil
	}
	var found []int
	for i, name := range names {
		if slices.Contains(labelNames[:], strings.ToLower(strings.TrimSpace(name))) {
			found = append(found, i)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return fail("%s and %s may be the label: want --label COLUMN", names[found[0]], names[found[1]])
	}
	return fail("which column is to be predicted? want --label COLUMN, one of %s", namesShown(names))
}

// mostShown bounds the names in an error.
const mostShown = 40

func namesShown(names []string) string { return phrase.Names(names, mostShown) }

// A Label is what is predicted.
type Label struct {
	Column  string   `json:"column"`
	Classes []string `json:"classes,omitempty"` // the rarer of two last, else as vocabularies of classes are ordered; nil: a number
	Counts  []Value  `json:"counts,omitempty"`  // records of each class, in the order of Classes
	Missing int64    `json:"missing,omitempty"` // records without a label
	Numbers *Number  `json:"numbers,omitempty"` // of numbers
}

// label makes a Label of a column; number says that it is a number, also if it looks like a class.
func (c *Column) label(number bool) (*Label, error) {
	bad := func(format string, args ...any) (*Label, error) {
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("the label "+format, append([]any{c.Name}, args...)...))
	}
	l := &Label{Column: c.Name, Missing: c.Records - c.filled(), Numbers: c.Numbers}
	switch {
	case c.content == empty:
		return bad("%s is empty in each record")
	case c.Distinct == 1:
		return bad("%s is %s in each record, want two classes or more, or numbers", c.example())
	}
	if f := c.tally.foreign; f.Records > 0 && c.content == texts {
		return bad("%s is %q in %s:%d, which is no UTF-8: %s", f.Text, f.File, f.Line, toUTF8)
	}
	whole := c.content == numbers && c.tally.integers == c.tally.numbers && (c.tally.loose == nil || c.tally.loose.cells == 0)
	if number && c.content != numbers {
		return bad("%s has %s texts, as in %s, want numbers for --regression", c.distinct(), c.examples(c.tally.odd))
	}
	if c.Values != nil && !number && (whole || c.content == texts) {
		l.Counts = classesOf(c)
		if len(l.Counts) == 1 {
			return bad("%s is %s in each record, want two classes or more, or numbers", l.Counts[0].Text)
		}
		for _, v := range l.Counts {
			l.Classes = append(l.Classes, v.Text)
		}
		return l, nil
	}
	if c.content != numbers {
		return bad("%s has %s texts, as in %s, want at most %d classes, or numbers: a job leaves characters out of them by strip", c.distinct(), c.examples(c.tally.odd), mostClasses)
	}
	return l, nil
}

// classesOfMissing returns the texts of a label that are words for missing elsewhere.
func (c *Column) classesOfMissing() (all []Value) {
	for _, v := range c.Values {
		if c.content == texts && column.MissingWord([]byte(v.Text)) >= 0 {
			all = append(all, v)
		}
	}
	return all
}

// toUTF8 says how to make UTF-8 of a file.
const toUTF8 = "iconv -f latin1 -t utf-8 FILE makes UTF-8 of Latin-1"

// String says what is predicted.
func (l *Label) String() string {
	if l.Classes == nil {
		return fmt.Sprintf("a number, %.6g to %.6g, mean %.6g", l.Numbers.Min, l.Numbers.Max, l.Numbers.Mean)
	}
	total := int64(0)
	for _, v := range l.Counts {
		total += v.Records
	}
	shares := make([]Value, len(l.Counts))
	for i, v := range l.Counts {
		shares[i].Text = fmt.Sprintf("%s %.1f %%", v.Text, 100*float64(v.Records)/float64(total))
	}
	return fmt.Sprintf("%d classes: %s", len(l.Classes), quoted(shares, 4))
}
