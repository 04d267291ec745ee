package csvfile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/text"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// Config says how the lines are read.
type Config struct {
	Format    string       // begins the messages about lines: csv, criteo
	Columns   *column.Plan // what the columns become; Open has it learn what is to be learnt
	Header    bool         // the first line of each file names its columns, else the plan's Order does
	Separator byte         // 0: a comma
	NoQuotes  bool         // a quote is a character like others
	Trim      bool         // blanks around names of a header, and around quotes, do not count
	Paths     []string     // as in text.Config
	Limits    input.Limits
	Labels    input.Labels

	// Learn has Open learn means and vocabularies from the records; else the plan knows all.
	Learn bool
	// Split says which records are held out: Learn passes over them.
	Split input.Split
	// Share is as in text.Config, unless there is something to learn, or cells say which records are held out.
	Share bool
	// Tolerate says that lines that are bad are no fault of Open.
	Tolerate bool
}

// Open counts the records of files, or with Share leaves them to CountShare, and parses
// those of the first MiB, so that these are checked, or all where there is something to
// learn. Another bad line is an error when its record is due.
//
// Errors name file, line, record and offset. Codes: exitcode.NoInput, exitcode.BadData,
// exitcode.IO, and exitcode.Usage for c.
func Open(ctx context.Context, files []string, c Config) (*text.Set, error) {
	p := &parser{config: c, files: files}
	t, err := p.lines()
	if err == nil {
		names := c.Columns.Order
		if c.Header {
			names = column.Wanted(c.Columns, c.Labels.Absent)
		}
		p.folders, err = input.FoldersOf(files, append(slices.Clip(names), c.Split.By))
	}
	if err != nil {
		return nil, err
	}
	t.Share, t.Split = c.Share && !(c.Learn && c.Columns.Learns()) && c.Split.By == "", c.Split
	s, err := text.Open(ctx, files, t)
	if err != nil {
		return nil, err
	}
	if err = p.bind(s); err == nil && c.Split.By != "" {
		err = s.Sort(ctx, p.cells)
	}
	if err == nil && c.Learn && c.Columns.Learns() {
		err = p.learn(ctx, s)
	}
	if err == nil {
		p.idle = sync.Pool{} // workers that have learnt have no runner
		p.runner = column.NewRunner(c.Columns, c.Labels)
	}
	switch {
	case err != nil:
	case !c.Tolerate:
		err = s.Check(ctx)
	case c.Learn && s.Facts().Counting == nil:
		_, err = input.LearnShape(ctx, s, math.MaxInt64) // no record is good
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	columns := c.Columns.Columns()
	s.SetFeatures(int(columns.Size()))
	return s, nil
}

// lines returns how the parser reads lines.
func (p *parser) lines() (text.Config, error) {
	c := &p.config
	if c.Separator == 0 {
		c.Separator = ','
	}
	if c.Separator == quote || c.Separator == '\n' || c.Separator == '\r' || c.Separator >= 0x80 {
		return text.Config{}, exitcode.With(exitcode.Usage, fmt.Errorf("separator is %q, want one character of ASCII that is no quote and no line end", c.Separator))
	}
	t := text.Config{Format: c.Format, Parse: p.parse, Paths: c.Paths, Limits: c.Limits, Header: c.Header, Separator: c.Separator, Trim: c.Trim}
	if !c.NoQuotes {
		t.Quote = quote
	}
	return t, nil
}

// Lines returns how lines are read from first to last, by text.EachPart. Nothing is learnt from them.
func Lines(c Config) (text.Config, error) {
	p := &parser{config: c, names: c.Columns.Order}
	p.runner = column.NewRunner(c.Columns, c.Labels)
	t, err := p.lines()
	if err != nil {
		return t, err
	}
	if !c.Header {
		return t, p.place()
	}
	t.Head = func(file string, line []byte) error {
		err := p.headerOf(file, line)
		if err == nil && len(p.at) == 0 {
			err = p.place()
		}
		return err
	}
	return t, nil
}

// parser turns lines into examples, from several goroutines.
type parser struct {
	config  Config
	width   int   // fields of a line
	at      []int // of each of the plan's Inputs: its field, -1 if the header lacks an optional one
	lacks   []int // fields that a line to predict may lack, all of them
	by      int   // field of Split.By
	fixed   []int // of each column that folders name: which of the plan's Inputs it is; -1: none
	names   []string
	files   []string
	folders input.Folders
	first   string         // file whose header has the names
	runner  *column.Runner // of which the workers have theirs; nil while the plan learns
	idle    sync.Pool      // *worker
}

// worker is the memory of one goroutine.
type worker struct {
	*splitter
	cells  []column.Cell
	runner *column.Runner
}

// bind finds the columns in the header of the files, or in the plan's order.
func (p *parser) bind(s *text.Set) error {
	p.names = slices.DeleteFunc(slices.Clone(p.config.Columns.Order), func(name string) bool { return p.folders.Find(name) >= 0 })
	if p.config.Header {
		if s.Facts().Records == 0 {
			return exitcode.With(exitcode.BadData, fmt.Errorf("%s: no records in %s, want a header and records", p.config.Format, strings.Join(p.files, ", ")))
		}
		if err := s.Headers(p.headerOf); err != nil {
			return err
		}
	}
	if err := p.place(); err != nil {
		return exitcode.With(exitcode.BadData, fmt.Errorf("%s: %s: %w", p.config.Format, p.first, err))
	}
	return nil
}

// place finds the columns among the names.
func (p *parser) place() error {
	places := make(map[string]int, len(p.names))
	for i, name := range slices.Backward(p.names) {
		places[name] = i
	}
	p.width = len(p.names)
	for k, name := range p.folders.Names {
		if _, there := places[name]; there {
			return p.folders.Twice(k)
		}
		p.fixed = append(p.fixed, slices.Index(p.config.Columns.Inputs, name))
	}
	for at, name := range p.config.Columns.Inputs {
		i, there := places[name]
		switch {
		case there && p.optional(at) && !p.config.Header:
			p.lacks = append(p.lacks, i)
		case p.folders.Find(name) >= 0, !there && p.optional(at):
			i = -1
		case !there:
			return fmt.Errorf("no column %s, which input.columns names%s; the header has %s%s", name, p.suggestion(name), listed(p.names),
				p.otherSeparator(strings.Join(p.names, string(p.config.Separator))))
		}
		p.at = append(p.at, i)
	}
	slices.Sort(p.lacks)
	return p.bindSplit(places)
}

// suggestion names the column of the header that a misspelt name probably means, one that the plan does not read.
func (p *parser) suggestion(name string) string {
	return phrase.DidYouMean(name, slices.DeleteFunc(slices.Clone(p.names), func(n string) bool { return slices.Contains(p.config.Columns.Inputs, n) }))
}

// otherSeparator offers a separator by which a line would have names of columns, or their number.
func (p *parser) otherSeparator(line string) string {
	isInput := func(name string) bool { return slices.Contains(p.config.Columns.Inputs, strings.Trim(name, `"`)) }
	for _, o := range []struct{ separator, value string }{{";", `";"`}, {"\t", "tab"}, {",", `","`}, {"|", `"|"`}} {
		fields := strings.Split(line, o.separator)
		if len(fields) > 1 && (len(fields) == p.width || slices.ContainsFunc(fields, isInput)) && o.separator[0] != p.config.Separator {
			return "; want separator: " + o.value
		}
	}
	return ""
}

// optional reports whether a file may lack the input: records to predict need neither label nor
// weight.
func (p *parser) optional(input int) bool {
	return p.config.Labels.Absent && !p.config.Columns.Predicts(input)
}

// headerOf reads the header of a file, which must equal that of the first.
func (p *parser) headerOf(file string, line []byte) error {
	wanted := make(map[string]bool) // other names may be there twice
	for at, name := range p.config.Columns.Inputs {
		wanted[name] = !p.optional(at)
	}
	fields, err := p.splitter().split(trimEnd(line))
	if err != nil {
		return fmt.Errorf("%w%s", err, p.otherSeparator(string(trimEnd(line))))
	}
	var names []string
	for _, f := range fields {
		name := string(f)
		if p.config.Trim {
			name = strings.TrimSpace(name)
		}
		names = append(names, name)
	}
	if p.first == "" {
		p.first, p.names = file, names
	}
	seen := make(map[string]bool, len(names))
	for _, name := range names {
		if wanted[name] && seen[name] {
			return fmt.Errorf("the header names %s twice, and input.columns reads it", name)
		}
		seen[name] = true
	}
	if !slices.Equal(names, p.names) {
		return fmt.Errorf("the header is %s, want %s as in %s", listed(names), listed(p.names), p.first)
	}
	return nil
}

// mostListed bounds the names in an error.
const mostListed = 12

func listed(names []string) string {
	text := fmt.Sprintf("%q", names[:min(len(names), mostListed)])
	if len(names) > mostListed {
		text += fmt.Sprintf(" and %d more", len(names)-mostListed)
	}
	return text
}

func (p *parser) splitter() *splitter {
	s := &splitter{Quoting: text.Quoting{Separator: p.config.Separator, Trim: p.config.Trim}}
	if !p.config.NoQuotes {
		s.Quote = quote
	}
	return s
}

func (p *parser) worker() *worker {
	if w, ok := p.idle.Get().(*worker); ok {
		return w
	}
	w := &worker{
		splitter: p.splitter(),
		cells:    make([]column.Cell, len(p.at)),
	}
	if p.runner != nil {
		w.runner = p.runner.Another()
	}
	return w
}

// cut puts the fields of a line of a file into the cells of w.
func (p *parser) cut(w *worker, line []byte, file int) error {
	fields, err := w.split(trimEnd(line))
	if err == nil && w.enclosed {
		err = w.swallowed(line, p.width, p.width-len(p.lacks))
	}
	if err == nil {
		err = p.fill(w, fields)
	}
	if err != nil {
		return text.WithLines(line, err)
	}
	for k, at := range p.fixed {
		if at >= 0 {
			w.cells[at].Text = p.folders.Cell(k, file)
		}
	}
	return nil
}

// fill puts the fields of a record into the cells of w.
func (p *parser) fill(w *worker, fields [][]byte) error {
	switch n, short := len(fields), p.width-len(p.lacks); {
	case n == p.width:
	case short == p.width:
		return fmt.Errorf("has %s, want %d%s", phrase.Count(n, "field"), p.width, p.beside())
	case n != short:
		return fmt.Errorf("has %s, want %d, or %d without label and weight", phrase.Count(n, "field"), p.width, short)
	default:
		for _, i := range p.lacks {
			fields = slices.Insert(fields, i, nil)
		}
		w.fields = fields
	}
	for i, at := range p.at {
		if at >= 0 {
			w.cells[i].Text = fields[at]
		}
	}
	return nil
}

// beside tells a reader of an error which columns folders name.
func (p *parser) beside() string {
	if len(p.folders.Names) == 0 {
		return ""
	}
	return ": folders name " + phrase.And(p.folders.Names)
}

// parse adds the record of a line of a file to b.
func (p *parser) parse(b *input.Batch, line []byte, file int) error {
	w := p.worker()
	defer p.idle.Put(w)
	err := p.cut(w, line, file)
	if err == nil {
		err = w.runner.Append(b, w.cells)
	}
	return p.hint(err, line)
}

// hint adds to an error of a line what is probably wrong: the line names the columns, and Config has
// no header.
func (p *parser) hint(err error, line []byte) error {
	if err == nil || p.config.Header {
		return err
	}
	fields, splitErr := p.splitter().split(trimEnd(line))
	for _, f := range fields {
		if splitErr == nil && slices.Contains(p.names, string(f)) {
			return fmt.Errorf("%w; the line has names of columns, want header: true", err)
		}
	}
	if len(fields) == 1 && p.width > 1 {
		err = fmt.Errorf("%w%s", err, p.otherSeparator(string(trimEnd(line))))
	}
	return err
}

// learn has the plan learn from the records that are not held out.
func (p *parser) learn(ctx context.Context, s *text.Set) error {
	l := column.NewLearner(p.config.Columns, p.config.Labels)
	err := s.EachBlock(ctx, p.config.Tolerate, func(block int) func([]byte) error {
		part, file := l.Part(block), s.FileOf(block)
		return func(line []byte) error {
			w := p.worker()
			defer p.idle.Put(w)
			err := p.cut(w, line, file)
			if err == nil {
				err = part.Learn(w.cells)
			}
			return p.hint(err, line)
		}
	}, l.End)
	if err != nil {
		return err
	}
	return l.Finish()
}
