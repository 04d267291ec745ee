package input

import (
	"context"
	"errors"
	"fmt"

	"ringtrain/ring/exitcode"
)

// ErrFile is in the chain of errors about a whole file, for example a file that changed
// during the read. MaxBad does not tolerate such errors.
var ErrFile = errors.New("input: file")

// WholeFile has ErrFile in the chain of err.
func WholeFile(err error) error { return wholeFile{err} }

type wholeFile struct{ error }

func (wholeFile) Is(target error) bool { return target == ErrFile }

// BadRecord reports whether err is about one record.
func BadRecord(err error) bool {
	return exitcode.Of(err) == exitcode.BadData && !errors.Is(err, ErrFile)
}

// Lost returns how many records an error of one takes away: 1, unless WithLost says it.
func Lost(err error) int {
	if e, ok := errors.AsType[losing](err); ok {
		return e.records
	}
	return 1
}

// WithLost has Lost return n: a quote that is not closed makes one record of many lines.
func WithLost(n int, err error) error { return losing{err, n} }

type losing struct {
	error
	records int
}

func (l losing) Unwrap() error { return l.error }

// Mark is the length of each part of a batch.
type Mark struct{ labels, importance, keys, rows, data, bags, pairs int }

// Mark returns the current lengths of b for Restore.
func (b *Batch) Mark() Mark {
	x := &b.X.Bags
	return Mark{len(b.Y), len(b.Importance), len(b.Keys), b.X.Dense.Rows, len(b.X.Dense.Data), len(x.Start), len(x.Slot)}
}

// Restore removes everything added since m, including the parts of a bad record.
func (b *Batch) Restore(m Mark) {
	b.Y, b.Importance = b.Y[:m.labels], b.Importance[:min(m.importance, len(b.Importance))]
	b.Keys = b.Keys[:min(m.keys, len(b.Keys))]
	b.X.Dense.Rows, b.X.Dense.Data = m.rows, b.X.Dense.Data[:m.data]
	x := &b.X.Bags
	if m.bags == 0 && len(x.Start) > 0 { // the first record started the bags
		x.Start = x.Start[:1]
		m.pairs = 0
	} else {
		x.Start = x.Start[:m.bags]
	}
	x.Slot, x.Weights = x.Slot[:m.pairs], x.Weights[:m.pairs]
}

// AppendGood adds the good ones of records to b, which is empty, in their order. It puts the places of
// the bad ones into b.Bad, and the error of the first into b.Fault. Its own error is not about a record.
// Good records cost nothing more than with Append.
func AppendGood(b *Batch, d Dataset, records []int) error {
	before := b.Mark()
	if err := d.Append(b, records...); err == nil || !BadRecord(err) {
		return err
	}
	b.Restore(before)
	b.Columns.Reset()
	for place := range records {
		before = b.Mark()
		err := d.Append(b, records[place:place+1]...)
		switch {
		case err == nil:
			continue
		case !BadRecord(err):
			return err
		}
		b.Restore(before)
		b.AddBad(place, err)
	}
	return nil
}

// AddBad adds a bad record at a place to b, and its error.
func (b *Batch) AddBad(place int, err error) {
	if b.Fault == nil {
		b.Fault = err
	}
	b.Bad, b.Lost = append(b.Bad, place), b.Lost+Lost(err)
}

// RecordShape is the shape of a data set's records: the columns of dense features and
// the fields of pairs.
type RecordShape struct{ Cols, Fields int }

// LearnShape returns the shape of the first good record of d. If the first most+1 records are bad, or
// all, it returns the error of the first. When ctx ends, it returns the cause.
func LearnShape(ctx context.Context, d Dataset, most int64) (RecordShape, error) {
	var b Batch
	var first error
	records := int64(d.Facts().Records)
	if most < records {
		records = most + 1
	}
	for i := range records {
		if ctx.Err() != nil {
			return RecordShape{}, context.Cause(ctx)
		}
		b.Reset()
		err := d.Append(&b, int(i))
		if err == nil {
			return RecordShape{b.X.Dense.Cols, b.X.Bags.Fields}, nil
		}
		if !BadRecord(err) {
			return RecordShape{}, err
		}
		if first == nil {
			first = err
		}
	}
	return RecordShape{}, AllBad(int(records), first)
}

// AllBad is the error that records, of which first is the error of the first, are all bad.
func AllBad(records int, first error) error {
	if records > 1 {
		first = fmt.Errorf("the first %d records are all bad; the first of them: %w", records, first)
	}
	return first
}

// AppendEmpty adds an example without features for a bad record.
func (b *Batch) AppendEmpty(s RecordShape) {
	b.Y = append(b.Y, 0)
	if s.Cols > 0 {
		clear(b.DenseRow(s.Cols))
	}
	if s.Fields > 0 {
		x := b.Bags(s.Fields)
		for range s.Fields {
			x.End()
		}
	}
	b.SetImportance(0)
}
