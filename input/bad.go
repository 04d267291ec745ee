package input

import (
	"errors"

	"ringtrain/ring/exitcode"
)

// ErrFile is in the chain of errors that are about a whole file, such as that it has changed
// while it was read. No number of bad records makes them good.
var ErrFile = errors.New("input: file")

// badRecord reports whether err is about one record.
func badRecord(err error) bool {
	return exitcode.Of(err) == exitcode.BadData && !errors.Is(err, ErrFile)
}

// Mark is how long the parts of a batch are.
type Mark struct{ labels, importance, rows, data, bags, pairs int }

// Mark returns where b ends, for Restore.
func (b *Batch) Mark() Mark {
	x := &b.X.Bags
	return Mark{len(b.Y), len(b.Importance), b.X.Dense.Rows, len(b.X.Dense.Data), len(x.Start), len(x.Slot)}
}

// Restore takes back what was added since m, also the parts of a record that is bad.
func (b *Batch) Restore(m Mark) {
	b.Y, b.Importance = b.Y[:m.labels], b.Importance[:min(m.importance, len(b.Importance))]
	b.X.Dense.Rows, b.X.Dense.Data = m.rows, b.X.Dense.Data[:m.data]
	x := &b.X.Bags
	if m.bags == 0 && len(x.Start) > 0 { // the first record has begun the bags
		x.Start = x.Start[:1]
		m.pairs = 0
	} else {
		x.Start = x.Start[:m.bags]
	}
	x.Slot, x.Weights = x.Slot[:m.pairs], x.Weights[:m.pairs]
}

// RecordShape is what the records of a data set have: so many columns of dense features, and
// so many fields of pairs.
type RecordShape struct{ Cols, Fields int }

// LearnShape finds the shape of the records of d, by the first one that is good. It returns
// the error of the first record if more than most are bad before that.
func LearnShape(d Dataset, most int64) (RecordShape, error) {
	var b Batch
	var first error
	for i := int64(0); i < int64(d.Len()); i++ {
		b.Reset()
		err := d.Append(&b, int(i))
		if err == nil {
			return RecordShape{b.X.Dense.Cols, b.X.Bags.Fields}, nil
		}
		if first == nil {
			first = err
		}
		if !badRecord(err) || i >= most {
			break
		}
	}
	return RecordShape{}, first
}

// AppendEmpty adds an example that counts nothing, in the place of a record that is bad.
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
