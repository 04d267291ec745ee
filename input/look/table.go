package look

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/model/keys"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Options say what to look at.
type Options struct {
	Names  []string // of files and folders, as a person gives them, all of one format
	Here   []string // where Names are on this host, if they are elsewhere; nil: Names says it
	Roots  []string // that they lie in
	Notice func(line string)
	Label  string   // the column to predict; "": by its name
	Number bool     // the label is a number, also if it looks like a class
	Weight string   // the column that says what a record counts; "": none
	Keys   []string // columns that predictions hand on; nil: by name
	Limits input.Limits

	files   []string // that Names mean
	folders input.Folders
}

// A Table is what files of records are.
type Table struct {
	Origin   convert.Origin // of a job
	Shape    []int          // of a record that is an image
	Dense    bool           // without columns: values of a place each, not ids
	Trim     bool           // texts have blanks around
	Records  int64
	Bad      []Odd // lines that are no record: the reason in place of the text
	BadLines int64
	Label    *Label
	Columns  []Column // in the order of the file
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

// Notices returns what a person should know beside the columns, first what is no record.
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
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Name == t.Label.Column {
			for _, v := range c.classesOfMissing() {
				all = append(all, fmt.Sprintf("%d records have the label %s, which is a class of its own: %s leaves them out", v.Records, v.Text, missingKey(t.Columns, v.Text)))
			}
		}
		if f := c.tally.foreign; f.Records > 0 && c.content == texts {
			all = append(all, fmt.Sprintf("%s:%d: %s is %q, and %d cells of the column are no UTF-8: %s", f.File, f.Line, c.Name, f.Text, f.Records, toUTF8))
		}
		if c.content == numbers && c.tally.loose.isGuess() {
			all = append(all, fmt.Sprintf("%s: commas are taken for those between thousands, and no number tells: for those of decimals write decimal: \",\" in the place of strip", c.Name))
		}
		if names := c.layouts(); c.content == dates && len(names) > 1 {
			all = append(all, fmt.Sprintf("%s: the dates fit the layouts %s: the first is taken", c.Name, strings.Join(names, " and ")))
		}
	}
	return all
}

// missingKey returns the line of a job by which a word counts as missing in each column, with those that do so now.
func missingKey(columns []Column, word string) string {
	words := []string{fmt.Sprintf("%q", word)}
	for i := range columns {
		for _, m := range columns[i].Missing {
			if w := fmt.Sprintf("%q", m.Text); m.Text != "" && !slices.Contains(words, w) {
				words = append(words, w)
			}
		}
	}
	return "input.missing: [" + strings.Join(words, ", ") + "]"
}

// Look reads files once.
func Look(ctx context.Context, o Options) (*Table, error) {
	var err error
	if o.Here == nil {
		o.Here = o.Names
	}
	if o.files, err = input.Expand(o.Roots, o.Here, o.Notice); err != nil {
		return nil, err
	}
	if t, err := lookImages(ctx, o); t != nil || err != nil {
		return t, err
	}
	folders, err := input.FoldersOf(o.files, input.FolderNames(o.files))
	if err != nil {
		return nil, err
	}
	o.folders = folders.Varying() // others tell nothing, and may be those of a place
	b, err := head(ctx, o.files, o.Limits)
	if err != nil {
		return nil, err
	}
	f := b.format
	if len(b.content) == 0 {
		return nil, exitcode.With(exitcode.BadData, fmt.Errorf("%s is empty, want records", b.name))
	}
	if err := notText(b.name, b.content); err != nil {
		return nil, err
	}
	t := &Table{Origin: convert.Origin{Format: convert.FormatName(f.Name)}}
	if t.Origin, err = t.Origin.Give(o.Names); err != nil {
		return nil, err
	}
	switch {
	case f.IsTable():
		return t, t.lookTable(ctx, o)
	case f.Columns == convert.WantColumns:
		return t, t.lookSeparated(ctx, o, b)
	case f.Columns == convert.MayColumns:
		return t, t.lookExamples(ctx, o, b)
	}
	if o.Weight != "" {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("--weight %s: %s is of the format %s, whose records have no columns", o.Weight, o.files[0], f.Name))
	}
	return t, t.lookRecords(ctx, o, f.Dense)
}

// lookSeparated looks at text with separated fields.
func (t *Table) lookSeparated(ctx context.Context, o Options, b beginning) error {
	bad := func(format string, args ...any) error {
		return exitcode.With(exitcode.BadData, fmt.Errorf(format, args...))
	}
	d, err := t.dialect(b.content, b.whole)
	if err != nil {
		return err
	}
	if isAligned(b.content, d) {
		return bad("%s has several blanks between columns, want one separator: sed -E 's/^ +//; s/ +/,/g' FILE makes CSV of it", o.files[0])
	}
	names := slices.Concat(d.names, o.folders.Names)
	if len(names) < 2 {
		return bad("%s has one column, want a label and one column more; between columns a comma, a semicolon, a tab, a bar or a blank is found", o.files[0])
	}
	at, err := findLabel(names, o.Label)
	if err != nil && !d.header && !d.noQuotes {
		line, _, _ := strings.Cut(string(b.content), "\n")
		return fmt.Errorf("%w; the file has no header, and begins with %s", err, phrase.Quote(line))
	}
	if err != nil {
		return err
	}
	p, err := newPass(string(t.Origin.Format), d, o.folders)
	if err != nil {
		return inFile(o.files[0], err)
	}
	if err := p.run(ctx, o.files, o.Limits); err != nil {
		return err
	}
	if p.records == 0 {
		if len(p.bad) > 0 {
			return bad("%s has no record: %s:%d: %s", o.files[0], p.bad[0].File, p.bad[0].Line, p.bad[0].Text)
		}
		return bad("%s has a header and no record", o.files[0])
	}
	t.Origin.Header, t.Trim = d.header, d.trim
	if !d.noQuotes {
		t.Origin.Separator = separatorKey(d.separator)
	}
	err = t.describe(p, at, o)
	t.Origin.Trim = t.Trim && !d.noQuotes
	return err
}

// describe describes what a pass has found; at is the label's place.
func (t *Table) describe(p *pass, at int, o Options) error {
	p.finish()
	t.Records, t.Bad, t.BadLines = p.records, p.bad, p.badAll
	seen := map[string]int{}
	for _, name := range p.names {
		seen[name]++
	}
	for i, name := range p.names {
		c := describe(name, &p.total[i], &p.values[i], p.records, empty)
		c.name, c.isList = unnamed(name, seen[name]), p.lists[i]
		t.Trim = t.Trim || c.tally.padded > 0
		t.Columns = append(t.Columns, c)
	}
	return t.choose(at, o)
}

// dialect returns how the fields of the format's lines are written.
func (t *Table) dialect(first []byte, whole bool) (dialect, error) {
	f, _ := convert.FormatOf(t.Origin.Format)
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
	case !utf8.ValidString(name):
		return "its name is no UTF-8"
	}
	return ""
}

// choose decides what becomes of each column; at is the label's place.
func (t *Table) choose(at int, o Options) (err error) {
	if why := t.Columns[at].name; why != "" {
		return exitcode.With(exitcode.BadData, fmt.Errorf("the label %s: %s, want a name that a job can use", phrase.Name(t.Columns[at].Name), why))
	}
	if t.Label, err = t.Columns[at].label(o.Number); err != nil {
		return err
	}
	for _, key := range o.Keys {
		if _, err := t.find("--key", key); err != nil {
			return err
		}
	}
	weightAt, err := t.weight(at, o.Weight)
	if err != nil {
		return err
	}
	features, keyed := 0, len(o.Keys) > 0
	for i := range t.Columns {
		c := &t.Columns[i]
		switch {
		case i == at:
			c.item, c.Why = t.Label.item, t.Label.String()
		case i == weightAt:
			c.item, c.Why = weight, "as asked for"
		case slices.Contains(o.Keys, c.Name):
			c.item, c.Why = key, "as asked for"
		default:
			c.choose()
		}
		c.Becomes = keys.KindsOf(reflect.ValueOf(c.Item(nil)))[0].Name
		switch isKey := c.Becomes == "key"; {
		case isKey && keyed && !slices.Contains(o.Keys, c.Name): // one is enough
			c.item, c.Becomes = ignore, "ignore"
		case isKey:
			keyed = true
		case i != at && i != weightAt && c.Becomes != "ignore":
			features++
		}
	}
	if features == 0 {
		return exitcode.With(exitcode.BadData, fmt.Errorf("no column can tell the label %s: %s", t.Label.Column, t.reasons()))
	}
	return nil
}

// weight returns the place of the column that says what a record counts, -1 for none; at is the label's place.
func (t *Table) weight(at int, name string) (int, error) {
	if name == "" {
		return -1, nil
	}
	place, err := t.find("--weight", name)
	if err != nil {
		return -1, err
	}
	c := &t.Columns[place]
	switch {
	case place == at:
		return -1, exitcode.With(exitcode.Usage, fmt.Errorf("--weight %s: the column is the label", name))
	case c.name != "":
		return -1, exitcode.With(exitcode.Usage, fmt.Errorf("--weight %s: %s", name, c.name))
	case c.content != numbers:
		return -1, exitcode.With(exitcode.BadData, fmt.Errorf("--weight %s: the column has %s, want numbers from 0", name, c.example()))
	case c.tally.min < 0:
		return -1, exitcode.With(exitcode.BadData, fmt.Errorf("--weight %s: the column has %v, want numbers from 0", name, c.tally.min))
	}
	return place, nil
}

// find returns the place of the column that a flag names.
func (t *Table) find(flag, name string) (int, error) {
	names := t.names()
	at := slices.Index(names, name)
	if at < 0 {
		return -1, exitcode.With(exitcode.Usage, fmt.Errorf("%s %s: no such column%s; the columns are %s", flag, name, phrase.DidYouMean(name, names), namesShown(names)))
	}
	return at, nil
}

// names returns the names of the columns.
func (t *Table) names() []string {
	all := make([]string, len(t.Columns))
	for i := range t.Columns {
		all[i] = t.Columns[i].Name
	}
	return all
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
