package tfrecord

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/model/graph"
)

// Columns describes the conversion of the records' features; see package column.
type Columns struct {
	Plan  *column.Plan
	Learn bool // the records are those of training, from which the plan learns
	Share bool // see input.Shared; not if the plan learns
}

// columnSet has records whose features are columns: texts, numbers and lists by name.
type columnSet struct {
	*dataset
	columns Columns
	place   map[string]int // of a feature that is read: its index in the plan's Inputs

	found    []byte // of each of Inputs: 1 if a record before searched has it; nil: all are found
	searched int
	lacked   error // of a bad record before searched that lacks a feature

	runner *column.Runner // source of the readers' runners; nil while the plan learns
	idle   sync.Pool      // *columnReader
}

// OpenColumns is Open for records whose features are columns. It uses Labels, Limits,
// Compression and Tolerate of c. A feature that is absent or has an empty list is a missing value of
// the column.
func OpenColumns(files []string, c Config, columns Columns) (input.Dataset, error) {
	c.Features = 1 // unused; it avoids the measurement of the files
	d, err := Open(files, c)
	if err != nil {
		return nil, err
	}
	s := &columnSet{dataset: d.(*dataset), columns: columns, place: map[string]int{}}
	for i, name := range columns.Plan.Inputs {
		if !s.config.Labels.Absent || columns.Plan.Predicts(i) {
			s.place[name] = i
		}
	}
	if columns.Learn {
		s.columns.Share = columns.Share && !columns.Plan.Learns()
		if err = s.find(); err == nil && columns.Plan.Learns() {
			err = s.learn()
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.runner = column.NewRunner(columns.Plan, s.config.Labels)
	if columns.Learn && c.Tolerate && s.Counted() {
		if _, err := input.LearnShape(s, math.MaxInt64); err != nil { // no record is good
			return nil, errors.Join(err, s.Close())
		}
	}
	made := s.Columns()
	s.features = int(made.Size())
	return s, nil
}

// Columns returns the conversion of the columns of a record.
func (s *columnSet) Columns() graph.Columns {
	return s.columns.Plan.Columns()
}

// columnReader has the memory of one goroutine that reads records.
type columnReader struct {
	frame  []byte
	cells  []column.Cell
	seen   []byte // of each cell: 1 if the record has its feature
	runner *column.Runner
}

func (s *columnSet) newReader() *columnReader {
	r := &columnReader{cells: make([]column.Cell, len(s.columns.Plan.Inputs)), seen: make([]byte, len(s.columns.Plan.Inputs))}
	if s.runner != nil {
		r.runner = s.runner.Another()
	}
	return r
}

// Append reads record i and adds it to b. After an error the caller must discard the
// added parts.
func (s *columnSet) Append(b *input.Batch, i int) error {
	r, ok := s.idle.Get().(*columnReader)
	if !ok {
		r = s.newReader()
	}
	defer s.idle.Put(r)
	return s.with(&r.frame, i, func(example []byte) error {
		if err := s.fill(r, example); err != nil {
			return err
		}
		return r.runner.Append(b, r.cells)
	})
}

// fill writes the features of an example to the cells.
func (s *columnSet) fill(r *columnReader, example []byte) error {
	for i := range r.cells {
		c := &r.cells[i]
		c.Text, c.IDs, c.Values = nil, c.IDs[:0], c.Values[:0]
	}
	clear(r.seen)
	return eachEntry(example, func(name, feature []byte) error {
		i, ok := s.place[string(name)]
		if !ok {
			return nil
		}
		err := errTwice
		if r.seen[i] == 0 {
			err = fillCell(&r.cells[i], feature)
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
	n := 0
	if c.Text, n, err = texts(feature); n > 1 {
		return fmt.Errorf("%d texts, want one", n)
	}
	return err
}

// partRecords is the number of records of a unit of learning.
const partRecords = 4096

// learn makes the plan learn from all records, in parallel. Its error is that of the first record.
func (s *columnSet) learn() error {
	parts := (s.records + partRecords - 1) / partRecords
	l := column.NewLearner(s.columns.Plan, s.config.Labels)
	err := input.SideBySide(parts, runtime.GOMAXPROCS(0), func(_, number int) error { return s.learnPart(l, number) })
	if err != nil {
		return err
	}
	return l.Finish()
}

// learnPart learns from a part of the records.
func (s *columnSet) learnPart(l *column.Learner, number int) error {
	r, part := s.newReader(), l.Part(number)
	for i := number * partRecords; i < min((number+1)*partRecords, s.records); i++ {
		err := s.with(&r.frame, i, func(example []byte) error {
			if err := s.fill(r, example); err != nil {
				return err
			}
			return part.Learn(r.cells)
		})
		if err != nil && !s.tolerates(err) {
			return err
		}
	}
	l.End(number)
	return nil
}

// Manifest is that of the files. It lacks the records until all features are found: see input.Shared.
func (s *columnSet) Manifest() []string {
	lines := s.dataset.Manifest()
	for i, f := range s.files {
		if !s.Counted() {
			lines[i] = f.base()
		}
	}
	return lines
}
