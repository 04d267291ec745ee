package input

import (
	"errors"
	"fmt"
	"sync/atomic"

	"ringtrain/ring/exitcode"
)

// Divide returns the records of each part of d, by its Part; nil for a part that the split does not hold out. A part
// without records is an error with exitcode.BadData. The last of them that is closed closes d, and an error does.
func Divide(d Dataset, s *Split) ([]Dataset, error) {
	division := &division{data: d, split: s}
	all, wanted := make([]Dataset, parts), append(s.Held(), Training)
	left := new(atomic.Int32)
	left.Store(int32(len(wanted)))
	for _, in := range wanted {
		v := &view{Dataset: &shared{Dataset: d, left: left}, in: in, counted: division.settle}
		all[in], division.views = v, append(division.views, v)
	}
	if err := division.settle(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return all, nil
}

// division is a data set and the views of its parts.
type division struct {
	data  Dataset
	split *Split
	views []*view
}

// settle gives the views the parts of the records. Before all are counted, these are the parts of the first ones.
func (d *division) settle() error {
	p, facts := d.split.PartsOf(d.data), d.data.Facts()
	for _, v := range d.views {
		v.set(p)
		if v.groups.Records() == 0 && facts.Counting == nil {
			return exitcode.With(exitcode.BadData, fmt.Errorf("input.split: no %s records: %s of %d records", v.in.Records(), d.split, facts.Records))
		}
	}
	return nil
}

// PartsOf returns the parts of the records of d: those by which its reader has learnt, or those of the numbers.
func (s *Split) PartsOf(d Dataset) *Parts {
	facts := d.Facts()
	if facts.Parts != nil {
		return facts.Parts
	}
	return s.Parts(facts.Records)
}

// dividing divides the records when they are counted.
type dividing struct {
	Counting
	counted func() error
}

// JoinCounts counts and divides.
func (d dividing) JoinCounts(parts [][]byte) error {
	if err := d.Counting.JoinCounts(parts); err != nil {
		return err
	}
	return d.counted()
}

// shared is a data set that is closed when all who share it have closed it.
type shared struct {
	Dataset
	left *atomic.Int32
}

func (s *shared) Close() error {
	if s.left.Add(-1) > 0 {
		return nil
	}
	return s.Dataset.Close()
}
