package parquet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/internal/blockcache"
	"ringtrain/ring/phrase"
)

// Config says how records are read.
type Config struct {
	Columns  *column.Plan // what the columns become
	Learn    bool         // the plan learns from the records
	Split    input.Split  // which records are held out: nothing is learnt from them
	Limits   input.Limits // of pages
	Labels   input.Labels
	Tolerate bool // bad records are no fault of Open
}

// Set is the records of Parquet files. It is an input.Dataset, and the source of a cache.
type Set struct {
	*table
	config Config
	facts  input.Facts
	runner *column.Runner // of which the readers have theirs; nil while the plan learns
	idle   sync.Pool      // *reader
	once   sync.Once
	shape  input.RecordShape
}

// reader has the memory of one goroutine that reads records.
type reader struct {
	cells  []column.Cell
	runner *column.Runner
}

const (
	// heldBytes bounds the values of a set whose records are read in any order.
	heldBytes = 4 * input.WindowBlocks * input.BlockBytes
	// sequentialBytes bounds the blocks in memory of a larger set, which is read in the order of its files.
	sequentialBytes = 32 << 20
)

// Large reports whether the records are slow to read in any order but that of their files: their values do not fit into
// memory.
func Large(ctx context.Context, files []string, c Config) (bool, error) {
	all, err := openAll(files, c.Limits)
	if err != nil {
		return false, err
	}
	columns, err := bind(ctx, all, c)
	return decodedBytes(all, columns) > heldBytes, err
}

// Open opens files, and has the plan learn what is to be learnt. It reads the first block, so that this one is checked.
//
// Errors name the file, and of a bad record its number. Codes: exitcode.NoInput, exitcode.BadData, exitcode.IO.
func Open(ctx context.Context, files []string, c Config) (*Set, error) {
	all, err := openAll(files, c.Limits)
	if err != nil {
		return nil, err
	}
	columns, err := bind(ctx, all, c)
	if err != nil {
		return nil, err
	}
	s := &Set{config: c}
	if len(all) > 0 && !slices.ContainsFunc(all, func(f *File) bool { return f.Records() > 0 }) {
		return nil, all[0].fault(errors.New("no records in it, or in other files"))
	}
	s.facts.Sequential = decodedBytes(all, columns) > heldBytes
	most := int64(2 * heldBytes)
	if s.facts.Sequential {
		most = sequentialBytes
	}
	s.table = newTable(all, columns, most)
	s.describe()
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func openAll(files []string, limits input.Limits) ([]*File, error) {
	var all []*File
	for _, name := range files {
		f, err := OpenFile(name, limits)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// decodedBytes is about how much memory the values of all records take.
func decodedBytes(files []*File, columns []wanted) (bytes int64) {
	for k, f := range files {
		for _, w := range columns {
			if w.in[k] == nil {
				continue
			}
			per := int64(8)
			if w.form == column.AsText {
				per = 24
			}
			for _, g := range f.footer.groups {
				bytes += per*g.rows + g.chunks[w.in[k].leaf].uncompressed
			}
		}
	}
	return bytes
}

// describe makes the facts of the records.
func (s *Set) describe() {
	f := &s.facts
	counts := make([]uint16, s.blocks())
	for i := range counts {
		counts[i] = uint16(s.Count(i))
	}
	f.Records, f.Blocks, f.Parts, f.Place = s.count, input.NewBlocks(counts), s.config.Split.Parts(s.count), s.place
	for _, file := range s.files {
		f.Bytes += file.Size
		f.Manifest = append(f.Manifest, file.line())
	}
}

// prepare finds which records are held out, learns, and checks the first block.
func (s *Set) prepare(ctx context.Context) error {
	c := &s.config
	if c.Split.By != "" {
		if err := s.sort(ctx); err != nil {
			return err
		}
	}
	if c.Learn && c.Columns.Learns() {
		if err := s.learn(ctx); err != nil {
			return err
		}
		s.idle = sync.Pool{} // those that have learnt have no runner
	}
	s.runner = column.NewRunner(c.Columns, c.Labels)
	columns := c.Columns.Columns()
	s.facts.Features = int(columns.Size())
	switch {
	case !c.Tolerate:
		var b input.Batch
		return s.eachOf(0, func(r *reader) error { b.Reset(); return r.runner.Append(&b, r.cells) }, unless(false))
	case c.Learn:
		_, err := input.LearnShape(ctx, s, math.MaxInt64) // no record is good
		return err
	}
	return nil
}

// unless returns the bad of eachOf that takes all errors if tolerate is true, else none.
func unless(tolerate bool) func(int, error) error {
	return func(_ int, err error) error {
		if tolerate {
			return nil
		}
		return err
	}
}

func (s *Set) reader() *reader {
	if r, ok := s.idle.Get().(*reader); ok {
		return r
	}
	r := &reader{cells: make([]column.Cell, len(s.wanted))}
	if s.runner != nil {
		r.runner = s.runner.Another()
	}
	return r
}

// fill sets the cells to those of a record of a block.
func (r *reader) fill(b *block, place int) {
	for i := range *b {
		(*b)[i].fill(&r.cells[i], place)
	}
}

// eachOf calls visit with each training record of a block. An error of visit becomes one of that record, which ends eachOf
// unless bad takes it.
func (s *Set) eachOf(at int, visit func(r *reader) error, bad func(place int, err error) error) error {
	held, err := s.loaded.Get(at)
	if err != nil {
		return err
	}
	defer s.loaded.Put(held)
	r := s.reader()
	defer s.idle.Put(r)
	for k := range s.Count(at) {
		if record := at*s.size + k; s.facts.Parts.Trains(record) {
			r.fill(&held.Data, k)
			if err := visit(r); err != nil {
				if err := bad(k, s.fault(record, err)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// learn has the plan learn from the training records.
func (s *Set) learn(ctx context.Context) error {
	l := column.NewLearner(s.config.Columns, s.config.Labels)
	err := input.SideBySide(ctx, s.blocks(), runtime.GOMAXPROCS(0), func(_, at int) error {
		part := l.Part(at)
		err := s.eachOf(at, func(r *reader) error { return part.Learn(r.cells) }, unless(s.config.Tolerate))
		if err == nil {
			l.End(at)
		}
		return err
	})
	if err != nil {
		return err
	}
	return l.Finish()
}

// sort puts the records into the parts that their cells of Split.By say.
func (s *Set) sort(ctx context.Context) error {
	by := wanted{name: s.config.Split.By}
	folders, err := input.FoldersOf(namesOf(s.files), []string{by.name})
	if err == nil {
		err = by.find(ctx, s.files, folders, "input.split.by")
	}
	if err != nil {
		return err
	}
	t := newTable(s.files, []wanted{by}, sequentialBytes)
	defer t.Close()
	return input.SideBySide(ctx, t.blocks(), runtime.GOMAXPROCS(0), func(_, at int) error {
		held, err := t.loaded.Get(at)
		if err != nil {
			return err
		}
		defer t.loaded.Put(held)
		var cell column.Cell
		for k := range t.Count(at) {
			held.Data[0].fill(&cell, k)
			s.facts.Parts.PutCell(at*t.size+k, s.config.Columns.SplitCell(cell.Text, s.config.Split.From != ""))
		}
		return nil
	})
}

// Facts returns what is known of the records.
func (s *Set) Facts() input.Facts { return s.facts }

// Append adds records in their order.
func (s *Set) Append(b *input.Batch, records ...int) error {
	r := s.reader()
	defer s.idle.Put(r)
	return s.records.Each(records, func(at blockcache.Location, held *block) error {
		r.fill(held, at.Place)
		if err := r.runner.Append(b, r.cells); err != nil {
			return s.fault(at.Record, err)
		}
		return nil
	})
}

// maxBad bounds the records that AppendBlock tries in search of a good one, for the shape of all.
const maxBad = 1 << 16

// AppendBlock adds the records of a block to b. In place of a bad record it adds an empty one, and calls bad with the
// place in the block and the error.
func (s *Set) AppendBlock(b *input.Batch, at int, bad func(place int, err error)) error {
	s.once.Do(func() { s.shape, _ = input.LearnShape(context.Background(), s, maxBad) })
	held, err := s.loaded.Get(at)
	if err != nil {
		return err
	}
	defer s.loaded.Put(held)
	r := s.reader()
	defer s.idle.Put(r)
	for k := range s.Count(at) {
		r.fill(&held.Data, k)
		before := b.Mark()
		if err := r.runner.Append(b, r.cells); err != nil {
			b.Restore(before)
			b.AppendEmpty(s.shape)
			bad(k, s.fault(at*s.size+k, err))
		}
	}
	return nil
}

// FileRecords returns the number of records of each file.
func (s *Set) FileRecords() (all []int) {
	for _, f := range s.files {
		all = append(all, f.Records())
	}
	return all
}

// Forget drops the blocks in memory.
func (s *Set) Forget() { s.loaded.Purge() }

// bind finds the plan's columns in the files, and has the plan take lists where they have some.
func bind(ctx context.Context, files []*File, c Config) ([]wanted, error) {
	names := column.Wanted(c.Columns, c.Labels.Absent)
	folders, err := input.FoldersOf(namesOf(files), names)
	if err != nil {
		return nil, err
	}
	var all []wanted
	for at, name := range c.Columns.Inputs {
		w := wanted{name: name, form: column.FormOf(c.Columns, at, c.Labels.Names != nil)}
		if !slices.Contains(names, name) {
			w.in = make([]*Column, len(files))
		} else if err := w.find(ctx, files, folders, "input.columns"); err != nil {
			return nil, err
		}
		for k, in := range w.in {
			if in != nil && (in.Kind == Float || in.Kind == Decimal) && column.LosesPoint(c.Columns, at) {
				return nil, files[k].fault(fmt.Errorf("column %s is %s, and strip would leave out its point, want decimal and strip for texts alone", name, in.Kind))
			}
		}
		if w.lists() {
			c.Columns.TakeList(at)
		}
		all = append(all, w)
	}
	return all, nil
}

func namesOf(files []*File) (names []string) {
	for _, f := range files {
		names = append(names, f.Name)
	}
	return names
}

// find finds a column, which key names, in each of the files or their folders, and settles the form of its cells.
func (w *wanted) find(ctx context.Context, files []*File, folders input.Folders, key string) error {
	in := folders.Find(w.name)
	for k, f := range files {
		c := f.column(w.name)
		switch {
		case in >= 0 && c != nil:
			return f.fault(folders.Twice(in))
		case in >= 0:
			w.form, w.in, w.same = column.AsText, append(w.in, nil), append(w.same, folders.Cell(in, k))
			continue
		case c == nil:
			return f.fault(fmt.Errorf("no column %s, which %s names%s", w.name, key, f.suggestion(w.name)))
		case c.Fault != nil:
			return f.fault(fmt.Errorf("column %s %w", w.name, c.Fault))
		case c.Kind == Boolean && w.need == Numbers:
			digits := *c
			digits.digits, c = true, &digits
		case !c.suits(w.form):
			w.form = column.AsText
		}
		w.in = append(w.in, c)
	}
	if in >= 0 {
		return nil
	}
	first := slices.IndexFunc(w.in, func(c *Column) bool { return c.Kind != Nothing })
	for k, c := range w.in {
		if of := w.in[max(first, 0)]; !w.mixes(c, of) {
			return files[k].fault(fmt.Errorf("column %s is %s, want %s as in %s", w.name, c.about(), of.about(), files[first].Name))
		}
	}
	return w.findDays(ctx, files)
}

// findDays has timestamps without an offset written as days if all of them are at midnight, as pandas does. The first that
// is not ends the search.
func (w *wanted) findDays(ctx context.Context, files []*File) error {
	if w.form != column.AsText && w.form != column.AsPrints || !slices.ContainsFunc(w.in, func(c *Column) bool { return c.Kind == Timestamp && !c.utc }) {
		return nil
	}
	t := newTable(files, []wanted{{name: w.name, in: w.in}}, 0)
	defer t.Close()
	for at := range t.blocks() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		held, err := t.loaded.Get(at)
		if err != nil {
			return err
		}
		later := slices.ContainsFunc(held.Data[0].texts, func(text []byte) bool { return len(text) > 0 && !bytes.HasSuffix(text, []byte(" 00:00:00")) })
		t.loaded.Put(held)
		if later {
			return nil
		}
	}
	for k, c := range w.in {
		day := *c
		day.days, w.in[k] = true, &day
	}
	return nil
}

// suggestion names the columns of a struct, or one that a misspelt name probably means.
func (f *File) suggestion(name string) string {
	var names []string
	for _, c := range f.columns {
		names = append(names, c.Name)
	}
	return phrase.DidYouMean(name, names)
}

// suits reports whether the values can be given in a form.
func (c *Column) suits(f column.Form) bool {
	switch f {
	case column.AsIDs:
		return (c.Kind == Nothing || c.Kind == Integer) && (c.physical == typeInt32 || c.physical == typeInt64 && !c.unsigned)
	case column.AsText, column.AsPrints:
		return true
	}
	return c.Kind.isNumber() || c.Kind == Nothing
}

// mixes reports whether values of two files go together: those of one kind do, and numbers where they are not read as texts.
func (w *wanted) mixes(c, o *Column) bool {
	isText := w.form == column.AsText || w.form == column.AsPrints
	switch {
	case c.Kind == o.Kind || c.Kind == Nothing:
		return true
	case isText && w.need == Shown && (c.Kind == Boolean || o.Kind == Boolean):
		return false
	}
	return (!isText || w.need != Texts) && c.Kind.isNumber() && o.Kind.isNumber()
}

// about names the type of a column.
func (c *Column) about() string {
	if c.List {
		return "lists of " + c.Kind.String()
	}
	return c.Kind.String()
}
