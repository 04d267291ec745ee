package tfrecord

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"ringtrain/input"
	"ringtrain/input/column"
)

// Columns describes the conversion of the records' features; see package column.
type Columns struct {
	Plan  *column.Plan
	Learn bool // the records are those of training, from which the plan learns
	Share bool // see input.Counting; not if the plan learns
}

// columnSet has records whose features are columns: texts, numbers and lists by name.
type columnSet struct {
	*dataset
	columns Columns
	place   map[string]int // of a feature that is read: its index in the plan's Inputs
	folders input.Folders  // the columns that folders of the files name

	found    []byte // of each of Inputs: 1 if a record before searched has it; nil: all are found
	searched int
	lacked   error // of a bad record before searched that lacks a feature

	runner *column.Runner // source of the readers' runners; nil while the plan learns
	idle   sync.Pool      // *columnReader
}

// OpenColumns is Open for records whose features are columns. It uses Labels, Limits,
// Compression and Tolerate of c. A feature that is absent or has an empty list is a missing value of
// the column.
func OpenColumns(ctx context.Context, files []string, c Config, columns Columns) (input.Dataset, error) {
	c.Features = 1 // unused; it avoids the measurement of the files
	d, err := open(ctx, files, c)
	if err != nil {
		return nil, err
	}
	s := &columnSet{dataset: d, columns: columns, place: map[string]int{}}
	for _, f := range s.files {
		s.facts.Bytes += f.Size
	}
	for i, name := range columns.Plan.Inputs {
		if !s.config.Labels.Absent || columns.Plan.Predicts(i) {
			s.place[name] = i
		}
	}
	names := append(column.Wanted(columns.Plan, c.Labels.Absent), c.Split.By)
	if s.folders, err = input.FoldersOf(files, names); err == nil && c.Split.By != "" {
		err = s.sort(ctx)
	}
	if err == nil && columns.Learn {
		s.columns.Share = columns.Share && !columns.Plan.Learns()
		if err = s.find(ctx); err == nil && columns.Plan.Learns() {
			err = s.learn(ctx)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.runner = column.NewRunner(columns.Plan, s.config.Labels)
	if columns.Learn && c.Tolerate && s.found == nil {
		if _, err := input.LearnShape(ctx, s, math.MaxInt64); err != nil { // no record is good
			return nil, errors.Join(err, s.Close())
		}
	}
	made := columns.Plan.Columns()
	s.facts.Features = int(made.Size())
	return s, nil
}

// columnReader has the memory of one goroutine that reads records.
type columnReader struct {
	frame []byte
	Row
	runner *column.Runner
}

func (s *columnSet) newReader() *columnReader {
	r := &columnReader{Row: newRow(s.place, len(s.columns.Plan.Inputs))}
	if s.runner != nil {
		r.runner = s.runner.Another()
	}
	return r
}

// Append reads records and adds them to b. After an error the caller must discard the
// added parts.
func (s *columnSet) Append(b *input.Batch, records ...int) error {
	r, ok := s.idle.Get().(*columnReader)
	if !ok {
		r = s.newReader()
	}
	defer s.idle.Put(r)
	for _, i := range records {
		err := s.with(&r.frame, i, func(example []byte) error {
			if err := s.fill(r, i, example); err != nil {
				return err
			}
			return r.runner.Append(b, r.Cells)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// fill writes record i, and what the folders of its file name, to the cells of a reader.
func (s *columnSet) fill(r *columnReader, i int, example []byte) error {
	if err := r.Fill(example); err != nil {
		return err
	}
	for k, name := range s.folders.Names {
		at, ok := s.place[name]
		if !ok {
			continue
		}
		if r.seen[at] > 0 {
			return input.WholeFile(s.folders.Twice(k))
		}
		r.Cells[at].Text, r.seen[at] = s.folders.Cell(k, s.fileOf(i)), 1
	}
	return nil
}

// A Row has the features of an example that are columns. One goroutine at a time may use it.
type Row struct {
	Cells []column.Cell
	seen  []byte         // of each cell: 1 if the record has its feature
	place map[string]int // of each feature: its cell
}

func newRow(place map[string]int, cells int) Row {
	return Row{make([]column.Cell, cells), make([]byte, cells), place}
}

// NewRow returns a row of the features of these names.
func NewRow(names []string) Row {
	place := make(map[string]int, len(names))
	for i, name := range names {
		place[name] = i
	}
	return newRow(place, len(names))
}

// Fill writes the features of an example to the cells. They are views into the example.
func (r *Row) Fill(example []byte) error {
	for i := range r.Cells {
		c := &r.Cells[i]
		c.Text, c.Texts, c.IDs, c.Values = nil, c.Texts[:0], c.IDs[:0], c.Values[:0]
	}
	clear(r.seen)
	return eachEntry(example, func(name, feature []byte) error {
		i, ok := r.place[string(name)]
		if !ok {
			return nil
		}
		err := errTwice
		if r.seen[i] == 0 {
			err = fillCell(&r.Cells[i], feature)
		}
		r.seen[i] = 1
		if err != nil {
			return fmt.Errorf("feature %q: %w", name, err)
		}
		return nil
	})
}

// fillCell writes a feature to a cell.
func fillCell(c *column.Cell, feature []byte) error {
	var kind listKind
	var err error
	if c.IDs, c.Values, kind, err = appendList(c.IDs, c.Values, feature); err != nil || kind != kindBytes {
		return err
	}
	if c.Texts, err = appendTexts(c.Texts, feature); len(c.Texts) == 1 {
		c.Text, c.Texts = c.Texts[0], c.Texts[:0]
	}
	return err
}

// partRecords is the number of records of a unit of learning.
const partRecords = 4096

// learn makes the plan learn from the training records, in parallel. Its error is that of the first record.
func (s *columnSet) learn(ctx context.Context) error {
	parts := (s.facts.Records + partRecords - 1) / partRecords
	l := column.NewLearner(s.columns.Plan, s.config.Labels)
	err := input.SideBySide(ctx, parts, runtime.GOMAXPROCS(0), func(_, number int) error { return s.learnPart(l, number) })
	if err != nil {
		return err
	}
	return l.Finish()
}

// learnPart learns from a part of the records.
func (s *columnSet) learnPart(l *column.Learner, number int) error {
	r, part := s.newReader(), l.Part(number)
	for i := number * partRecords; i < min((number+1)*partRecords, s.facts.Records); i++ {
		if !s.facts.Parts.Trains(i) {
			continue
		}
		err := s.with(&r.frame, i, func(example []byte) error {
			if err := s.fill(r, i, example); err != nil {
				return err
			}
			return part.Learn(r.Cells)
		})
		if err != nil && !s.tolerates(err) {
			return err
		}
	}
	l.End(number)
	return nil
}
