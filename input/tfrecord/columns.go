package tfrecord

import (
	"errors"
	"fmt"
	"runtime"
	"sync"

	"golang.org/x/sync/errgroup"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/model/graph"
	"ringtrain/ring/exitcode"
)

// Columns describes the conversion of the records' features; see package column.
type Columns struct {
	Plan  *column.Plan
	Learn bool // the plan learns from the records

	Tolerate bool // ignore bad records while the plan learns
}

// columnSet has records whose features are columns: texts, numbers and lists by name.
type columnSet struct {
	*dataset
	columns Columns
	place   map[string]int // index of a feature in the plan's Inputs
	runner  *column.Runner // source of the readers' runners; nil while the plan learns
	idle    sync.Pool      // *columnReader
}

// OpenColumns is Open for records whose features are columns. It uses Labels, Limits and
// Compression of c. A feature that is absent or has an empty list is a missing value of
// the column.
func OpenColumns(files []string, c Config, columns Columns) (input.Dataset, error) {
	c.Features = 1 // unused; it avoids the measurement of the files
	d, err := Open(files, c)
	if err != nil {
		return nil, err
	}
	s := &columnSet{dataset: d.(*dataset), columns: columns, place: map[string]int{}}
	for i, name := range columns.Plan.Inputs {
		s.place[name] = i
	}
	if columns.Learn && columns.Plan.Learns() {
		if err := s.learn(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	s.runner = column.NewRunner(columns.Plan, s.config.Labels)
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
	runner *column.Runner
}

func (s *columnSet) newReader() *columnReader {
	r := &columnReader{cells: make([]column.Cell, len(s.columns.Plan.Inputs))}
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
	return s.with(r, i, func() error { return r.runner.Append(b, r.cells) })
}

// with calls use after it has read the cells of record i into r.
func (s *columnSet) with(r *columnReader, i int, use func() error) error {
	f, record := s.file(i)
	var err error
	if r.frame, err = f.read(r.frame[:0], record); err == nil {
		var example []byte
		if example, err = dataOf(r.frame); err == nil {
			err = s.fill(r.cells, example)
		}
	}
	if err == nil {
		err = use()
	}
	if err != nil {
		return exitcode.With(exitcode.BadData, &flaw{f.name, record, f.starts[record], err})
	}
	return nil
}

// fill writes the features of an example to the cells.
func (s *columnSet) fill(cells []column.Cell, example []byte) error {
	for i := range cells {
		c := &cells[i]
		c.Text, c.IDs, c.Values = nil, c.IDs[:0], c.Values[:0]
	}
	var fault error
	err := eachEntry(example, func(name, feature []byte) {
		i, ok := s.place[string(name)]
		if !ok || fault != nil {
			return
		}
		if err := fillCell(&cells[i], feature); err != nil {
			fault = fmt.Errorf("feature %q: %w", name, err)
		}
	})
	return errors.Join(err, fault)
}

// fillCell writes a feature to a cell. Of duplicate names the last one counts.
func fillCell(c *column.Cell, feature []byte) error {
	var kind listKind
	var err error
	c.Text = nil
	if c.IDs, c.Values, kind, err = appendList(c.IDs[:0], c.Values[:0], feature); err != nil || kind != kindBytes {
		return err
	}
	n := 0
	for len(feature) > 0 {
		var list field
		if list, feature, err = next(feature); err != nil {
			return err
		}
		for val := list.val; list.is(1) && len(val) > 0; {
			var text field
			if text, val, err = next(val); err != nil {
				return err
			}
			if text.is(1) {
				c.Text = text.val[:len(text.val):len(text.val)]
				n++
			}
		}
	}
	if n > 1 {
		return fmt.Errorf("%d texts, want one", n)
	}
	return nil
}

// partRecords is the number of records of a unit of learning.
const partRecords = 4096

// learn makes the plan learn from all records, in parallel.
func (s *columnSet) learn() error {
	parts := (s.records + partRecords - 1) / partRecords
	l := column.NewLearner(s.columns.Plan)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for number := range parts {
		g.Go(func() error {
			r, part := s.newReader(), l.Part(number)
			for i := number * partRecords; i < min((number+1)*partRecords, s.records); i++ {
				if err := s.with(r, i, func() error { return part.Learn(r.cells) }); err != nil && !s.columns.Tolerate {
					return err
				}
			}
			l.End(number)
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return l.Finish()
}
