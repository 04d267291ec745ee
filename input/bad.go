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

// mark is how long the parts of a batch are.
type mark struct{ labels, importance, rows, data, bags, pairs int }

func (b *Batch) mark() mark {
	x := &b.X.Bags
	return mark{len(b.Y), len(b.Importance), b.X.Dense.Rows, len(b.X.Dense.Data), len(x.Start), len(x.Slot)}
}

// restore takes back what was added since m.
func (b *Batch) restore(m mark) {
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

// emptyShape is how long the parts of a record are that is bad.
type emptyShape struct{ cols, fields int }

// learnShape finds out what a record looks like, by the first one that is good. It returns
// the error of the first record if more are bad than may be.
func (r *reader) learnShape() error {
	var b Batch
	var first error
	for i := int64(0); i < int64(r.data.Len()); i++ {
		b.Reset()
		err := r.data.Append(&b, int(i))
		if err == nil {
			r.shape = emptyShape{b.X.Dense.Cols, b.X.Bags.Fields}
			return nil
		}
		if first == nil {
			first = err
		}
		if !badRecord(err) || i >= r.config.MaxBad {
			return first
		}
	}
	return first
}

// appendBad adds an example that counts nothing instead of a record that is bad.
func (b *Batch) appendBad(s emptyShape, err error) {
	b.Y = append(b.Y, 0)
	if s.cols > 0 {
		clear(b.DenseRow(s.cols))
	}
	if s.fields > 0 {
		x := b.Bags(s.fields)
		for range s.fields {
			x.End()
		}
	}
	if b.SetImportance(0); b.Bad == 0 {
		b.Fault = err
	}
	b.Bad++
}
