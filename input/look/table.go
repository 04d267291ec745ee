package look

import (
	"context"
	"fmt"
	"reflect"
	"strings"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/model/keys"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Options say what to look at.
type Options struct {
	Files  []string // that exist, all of one format
	Label  string   // the column to predict; "": by its name
	Keys   []string // columns that predictions hand on; nil: by name
	Limits input.Limits
}

// A Table is what files of records are.
type Table struct {
	Format    string
	Header    bool
	Separator byte
	Trim      bool // texts have blanks around
	Missing   []string
	Records   int64
	Bad       []Odd // lines that are no record: the reason in place of the text
	BadLines  int64
	Label     *Label
	Columns   []Column // in the order of the file
}

// BadRecords returns how many records at most will be bad: lines that are none, odd cells of columns that are
// read, and labels that are missing.
func (t *Table) BadRecords() int64 {
	n := t.BadLines + t.Label.Missing
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Becomes != "ignore" && c.Becomes != "key" {
			n += c.OddCells
		}
	}
	return n
}

// Notices returns what a person should know beside the columns.
func (t *Table) Notices() (all []string) {
	for _, b := range t.Bad {
		all = append(all, fmt.Sprintf("%s:%d: %s: no record", b.File, b.Line, b.Text))
	}
	if n := t.BadLines - int64(len(t.Bad)); n > 0 {
		all = append(all, fmt.Sprintf("%d more lines are no record", n))
	}
	if t.Label.Missing > 0 {
		all = append(all, fmt.Sprintf("%d records have no label %s: they are left out", t.Label.Missing, t.Label.Column))
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		for _, o := range c.Odd[:min(len(c.Odd), mostBadLines)] {
			all = append(all, fmt.Sprintf("%s:%d: %s is %q, %d times: want %s", o.File, o.Line, c.Name, o.Text, o.Records, c.content.want()))
		}
	}
	return all
}

// Look reads files once.
func Look(ctx context.Context, o Options) (*Table, error) {
	first, whole, err := head(ctx, o.Files[0], o.Limits)
	if err != nil {
		return nil, err
	}
	if len(first) == 0 {
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("%s is empty, want records", o.Files[0]))
	}
	t := &Table{Format: convert.Sniff(first).Name}
	return t, t.lookSeparated(ctx, o, first, whole)
}

// lookSeparated looks at text with separated fields.
func (t *Table) lookSeparated(ctx context.Context, o Options, first []byte, whole bool) error {
	bad := func(format string, args ...any) error {
		return exitcode.With(exitcode.BadData, fmt.Errorf(format, args...))
	}
	d, err := t.dialect(first, whole)
	if err != nil {
		return err
	}
	if len(d.names) < 2 {
		return bad("%s has one column, want a label and one column more; between columns a comma, a semicolon, a tab, a bar or a blank is found", o.Files[0])
	}
	at, err := findLabel(d.names, o.Label)
	if err != nil {
		return err
	}
	p := newPass(t.Format, d)
	if err := p.run(ctx, o.Files, o.Limits); err != nil {
		return err
	}
	if p.records == 0 {
		if len(p.bad) > 0 {
			return bad("%s has no record: %s:%d: %s", o.Files[0], p.bad[0].File, p.bad[0].Line, p.bad[0].Text)
		}
		return bad("%s has a header and no record", o.Files[0])
	}
	t.Header, t.Separator, t.Records, t.Bad, t.BadLines = d.header, d.separator, p.records, p.bad, p.badAll
	seen := map[string]int{}
	for _, name := range d.names {
		seen[name]++
	}
	for i, name := range d.names {
		c := describe(name, &p.total[i], &p.values[i], p.records)
		c.name = unnamed(name, seen[name])
		t.Trim = t.Trim || c.tally.padded > 0
		t.Columns = append(t.Columns, c)
	}
	return t.choose(at, o.Keys)
}

// dialect returns how the fields of the format's lines are written.
func (t *Table) dialect(first []byte, whole bool) (dialect, error) {
	f, _ := convert.FormatOf(convert.FormatName(t.Format))
	if f.Default == nil {
		return sniffDialect(first, whole), nil
	}
	plan, err := column.Compile(f.Default(), nil)
	if err != nil {
		return dialect{}, err
	}
	return dialect{separator: '\t', names: plan.Order, noQuotes: true}, nil
}

// unnamed says why a job cannot name a column, "" if it can.
func unnamed(name string, times int) string {
	switch {
	case name == "":
		return "has no name in the header"
	case times > 1:
		return fmt.Sprintf("%d columns have this name", times)
	case strings.Contains(name, ".."):
		return "its name reads as a range of columns"
	}
	return ""
}

// choose decides what becomes of each column; at is the label's place.
func (t *Table) choose(at int, given []string) (err error) {
	if t.Label, err = t.Columns[at].label(); err != nil {
		return err
	}
	features := 0
	for i := range t.Columns {
		c := &t.Columns[i]
		if i == at {
			c.item, c.Why = label, t.Label.why(c)
		} else {
			c.choose()
		}
		c.Becomes = keys.KindsOf(reflect.ValueOf(c.Item(nil)))[0].Name
		if i != at && c.Becomes != "ignore" && c.Becomes != "key" {
			features++
		}
	}
	if features == 0 {
		return exitcode.With(exitcode.BadData, fmt.Errorf("no column can tell the label %s: %s", t.Label.Column, t.reasons()))
	}
	return nil
}

// reasons lists why columns are left out.
func (t *Table) reasons() string {
	var all []string
	for _, c := range t.Columns[:min(len(t.Columns), 5)] {
		if c.Becomes != "label" {
			all = append(all, fmt.Sprintf("%s (%s)", phrase.Name(c.Name), c.Why))
		}
	}
	return strings.Join(all, ", ")
}
