package synth

import (
	"errors"
	"fmt"

	"ringtrain/input"
)

// A ClickLog describes a drawn click log. A record has one id of each field, like a log
// of advertisements. Everything is a function of the ClickLog, and record i is a
// function of i, so no record needs memory.
//
// # Ids
//
// Fields are small and large, as in the logs of Criteo. The last field has a quarter of
// all ids, the one before a quarter of the rest, and so on, but at least 8 ids; the
// first field has the remaining ids. Ids ascend with the fields.
//
// The first of the n ids of a field are frequent: with u uniform in [0, 1), the id is
// ⌊n·u⁴⌋, so the first k ids of a field have the share (k/n)^¼ of the records. With
// Spread s, id k is written as k·s: the same log over a table of IDs·s rows.
//
// # Labels
//
// The label is 1 with the probability 1/(1+e^-z), where
//
//	z = bias + Σ_i w_i  +  Σ_{i<j} <v_i, v_j>
//
// over the ids of the record. The hidden weights w are approximately normal, and the
// first sum has the variance 0.8. With Interactions the ids of the first 12 fields have
// hidden factors v of 4 numbers each, whose mean over the records of a field is 0: a
// linear model cannot learn the second sum, a factorization machine can. The second sum
// then has the variance 1.2, else it is 0. The bias makes the mean of z -1.4. Means and
// variances are those of 4096 records that are in neither split.
type ClickLog struct {
	Seed         uint64
	Rows         int
	IDs          int // distinct ids over all fields
	Fields       int
	Spread       int  // 0 means 1
	Interactions bool // labels depend on pairs of ids
}

// Limits of a click log. A table has fewer than 2³¹ rows.
const (
	mostClickFields = 1024
	mostClickIDs    = 1<<31 - 1
	leastFieldIDs   = 8 // minimum ids of a field, if there are enough ids
)

// Check returns all errors of c.
func (c ClickLog) Check() error {
	var errs []error
	if c.Rows < 1 {
		errs = append(errs, fmt.Errorf("--rows is %d, want 1 or more", c.Rows))
	}
	if c.Fields < 1 || c.Fields > mostClickFields {
		errs = append(errs, fmt.Errorf("--fields is %d, want 1 to %d", c.Fields, mostClickFields))
	}
	if c.IDs < c.Fields || c.IDs > mostClickIDs {
		errs = append(errs, fmt.Errorf("--ids is %d, want %d or more, one for each field, and at most %d", c.IDs, c.Fields, mostClickIDs))
	}
	if c.Spread < 0 || c.IDs > 0 && c.Spread > mostClickIDs/c.IDs {
		errs = append(errs, fmt.Errorf("--spread is %d, want 1 or more, and ids times spread at most %d", c.Spread, mostClickIDs))
	}
	return errors.Join(errs...)
}

// clickLog is a drawn click log.
type clickLog struct {
	ClickLog
	sizes   []int // ids of each field
	split   Split
	records uint64 // key of the records' random numbers
	model   clickModel
}

// Draws is a drawn click log with access to each record. Several goroutines may call its
// methods.
type Draws interface {
	input.Dataset

	// AppendRow appends the ids of record i, one for each field, and returns its label
	// and the probability of label 1. It panics if there is no such record.
	AppendRow(ids []uint32, i int) (with []uint32, label uint8, probability float64)
}

// Draw returns a split of the log. Both splits have c.Rows records of the same hidden
// model. Draw panics if c.Check returns an error.
func (c ClickLog) Draw(split Split) Draws {
	if c.Check() != nil {
		panic("synth: no such click log")
	}
	c.Spread = max(c.Spread, 1)
	l := &clickLog{ClickLog: c, sizes: c.fieldSizes(), split: split, records: keyOf(c.Seed, split.stream())}
	l.model = l.hiddenModel()
	return l
}

func (l *clickLog) Facts() input.Facts {
	name := fmt.Sprintf("synthetic-click-log-%s-seed-%d-ids-%d-fields-%d-spread-%d", l.split, l.Seed, l.IDs, l.Fields, l.Spread)
	if l.Interactions {
		name += "-interactions"
	}
	return input.Facts{
		Records: l.Rows, Features: (l.IDs-1)*l.Spread + 1, InMemory: true, // records are computed without waiting
		Manifest: []string{fmt.Sprintf("%s %d %d", name, l.Rows*(l.Fields+1), l.Rows)},
	}
}

func (l *clickLog) Close() error { return nil }

func (l *clickLog) Append(b *input.Batch, records ...int) error {
	x := b.Bags(1)
	for _, i := range records {
		var label uint8
		x.Slot, label, _ = l.AppendRow(x.Slot, i)
		for range l.Fields {
			x.Weights = append(x.Weights, 1)
		}
		x.End()
		b.Y = append(b.Y, float32(label))
	}
	return nil
}

func (l *clickLog) AppendRow(ids []uint32, i int) (with []uint32, label uint8, probability float64) {
	if i < 0 || i >= l.Rows {
		panic("synth: no such record")
	}
	n := len(ids)
	ids = l.appendIDs(ids, l.records, i)
	probability = 1 / (1 + exp(-l.model.logit(ids[n:])))
	if d := drawOf(l.records, i, l.Fields); unitOf(d) < probability {
		label = 1
	}
	for k := n; l.Spread > 1 && k < len(ids); k++ {
		ids[k] *= uint32(l.Spread)
	}
	return ids, label, probability
}

// FieldStarts returns the first id of each field, including Spread.
func (c ClickLog) FieldStarts() []uint32 {
	var starts []uint32
	first := 0
	for _, n := range c.fieldSizes() {
		starts = append(starts, uint32(first*max(c.Spread, 1)))
		first += n
	}
	return starts
}

// fieldSizes returns the number of ids of each field.
func (c ClickLog) fieldSizes() []int {
	least := min(leastFieldIDs, c.IDs/c.Fields)
	sizes := make([]int, c.Fields)
	rest := c.IDs
	for f := c.Fields - 1; f > 0; f-- {
		sizes[f] = min(max(rest/4, least), rest-f*least) // f fields remain
		rest -= sizes[f]
	}
	sizes[0] = rest
	return sizes
}

// appendIDs appends the ids of a record before Spread.
func (l *clickLog) appendIDs(ids []uint32, key uint64, record int) []uint32 {
	first := 0
	for f, n := range l.sizes {
		u := unitOf(drawOf(key, record, f))
		u *= u
		ids = append(ids, uint32(first)+uint32(u*u*float64(n)))
		first += n
	}
	return ids
}
