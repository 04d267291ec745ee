package tfrecord

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

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
	kinds   []kindSet      // of each of Inputs: the lists that it may be
	pairs   [][2]int       // ids and their values in Inputs

	found    []bool // of each of Inputs: it is found in the searched records; nil: all is found
	searched int    // records

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
	s := &columnSet{dataset: d.(*dataset), columns: columns}
	s.bind()
	if columns.Learn {
		s.columns.Share = columns.Share && !columns.Plan.Learns()
		if err = s.findColumns(); err == nil {
			err = s.checkAnyGood()
		}
		if err == nil && columns.Plan.Learns() {
			err = s.learn()
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.runner = column.NewRunner(columns.Plan, s.config.Labels)
	made := s.Columns()
	s.features = int(made.Size())
	return s, nil
}

// bind decides which features are read, and as what.
func (s *columnSet) bind() {
	p := s.columns.Plan
	uses, pairs := p.Uses()
	s.pairs, s.place, s.kinds = pairs, make(map[string]int, len(uses)), make([]kindSet, len(uses))
	for i, use := range uses {
		if s.config.Labels.Absent && !p.Predicts(i) {
			continue
		}
		s.place[p.Inputs[i]], s.kinds[i] = i, ^kindSet(0)
		for _, u := range useKinds {
			if use&u.use != 0 {
				s.kinds[i] &= u.kinds
			}
		}
	}
}

// useKinds has the kinds of lists that can be read in a way. A number may be written as a text.
var useKinds = []struct {
	use   column.Use
	kinds kindSet
}{
	{column.AsNumber, 1<<kindBytes | 1<<kindFloat | 1<<kindInt64},
	{column.AsText, 1<<kindBytes | 1<<kindInt64},
	{column.AsIDs, intsOnly},
	{column.AsValues, floatsOnly},
}

// Columns returns the conversion of the columns of a record.
func (s *columnSet) Columns() graph.Columns {
	return s.columns.Plan.Columns()
}

// columnReader has the memory of one goroutine that reads records.
type columnReader struct {
	frame  []byte
	cells  []column.Cell
	seen   []bool // of each cell: the record has its feature
	runner *column.Runner
}

func (s *columnSet) newReader() *columnReader {
	r := &columnReader{cells: make([]column.Cell, len(s.kinds)), seen: make([]bool, len(s.kinds))}
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

// fill writes the features of an example to the cells. A feature of another kind than its columns
// want, and values without as many ids, are errors.
func (s *columnSet) fill(r *columnReader, example []byte) error {
	for i := range r.cells {
		c := &r.cells[i]
		c.Text, c.IDs, c.Values = nil, c.IDs[:0], c.Values[:0]
	}
	clear(r.seen)
	err := eachEntry(example, func(name, feature []byte) error {
		i, ok := s.place[string(name)]
		if !ok {
			return nil
		}
		err := errTwice
		if !r.seen[i] {
			err = fillCell(&r.cells[i], feature, s.kinds[i])
		}
		if r.seen[i] = true; err != nil {
			return fmt.Errorf("feature %q: %w", name, err)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, p := range s.pairs {
		if ids, values := len(r.cells[p[0]].IDs), len(r.cells[p[1]].Values); ids != values {
			return unequal(s.columns.Plan.Inputs[p[0]], ids, s.columns.Plan.Inputs[p[1]], values)
		}
	}
	return nil
}

// fillCell writes a feature, a list of one of the wanted kinds, to a cell. An empty list has no kind.
func fillCell(c *column.Cell, feature []byte, want kindSet) error {
	var kind listKind
	var err error
	if c.IDs, c.Values, kind, err = appendList(c.IDs, c.Values, feature); err != nil {
		return err
	}
	n := len(c.IDs) + len(c.Values)
	if kind == kindBytes {
		if c.Text, n, err = texts(feature); err != nil {
			return err
		}
	}
	if n == 0 {
		return nil
	}
	if err := want.check(kind); err != nil {
		return err
	}
	if kind == kindBytes && n > 1 {
		return fmt.Errorf("%d texts, want one", n)
	}
	return nil
}

// partRecords is the number of records of a unit of learning.
const partRecords = 4096

// learn makes the plan learn from all records, in parallel. Its error is that of the first record.
func (s *columnSet) learn() error {
	parts := (s.records + partRecords - 1) / partRecords
	l := column.NewLearner(s.columns.Plan, s.config.Labels)
	faults := make([]error, parts)
	var failed atomic.Bool // parts begin in their order: all before one that failed have begun
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for number := 0; number < parts && !failed.Load(); number++ {
		g.Go(func() error {
			if faults[number] = s.learnPart(l, number); faults[number] != nil {
				failed.Store(true)
			}
			return nil
		})
	}
	g.Wait()
	for _, err := range faults {
		if err != nil {
			return err
		}
	}
	return l.Finish()
}

// learnPart learns from a part of the records.
func (s *columnSet) learnPart(l *column.Learner, number int) error {
	r, part := s.newReader(), l.Part(number)
	for i := number * partRecords; i < min((number+1)*partRecords, s.records); i++ {
		if err := s.learnRecord(part, r, i); err != nil && !s.tolerates(err) {
			return err
		}
	}
	l.End(number)
	return nil
}

// learnRecord learns from record i.
func (s *columnSet) learnRecord(part *column.Part, r *columnReader, i int) error {
	return s.with(&r.frame, i, func(example []byte) error {
		if err := s.fill(r, example); err != nil {
			return err
		}
		return part.Learn(r.cells)
	})
}

// checkAnyGood returns the error of the first record if all are bad.
func (s *columnSet) checkAnyGood() error {
	r, part, good := s.newReader(), column.NewLearner(s.columns.Plan, s.config.Labels).Part(0), []bool{false}
	return s.search(good, 0, s.records, func(i int) error {
		err := s.learnRecord(part, r, i)
		good[0] = err == nil
		return err
	})
}
