package synth

import (
	"errors"
	"fmt"
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

// Drawn is a split of a drawn click log, with access to each record. Several goroutines may use it.
type Drawn struct {
	ClickLog
	sizes   []int  // ids of each field
	records uint64 // key of the records' random numbers
	model   clickModel
}

// Draw returns a split of the log. Both splits have c.Rows records of the same hidden
// model. Draw panics if c.Check returns an error.
func (c ClickLog) Draw(split Split) *Drawn {
	if c.Check() != nil {
		panic("synth: no such click log")
	}
	c.Spread = max(c.Spread, 1)
	d := &Drawn{ClickLog: c, sizes: c.fieldSizes(), records: keyOf(c.Seed, split.stream())}
	d.model = d.hiddenModel()
	return d
}

// AppendRow appends the ids of record i, one for each field, and returns its label
// and the probability of label 1. It panics if there is no such record.
func (d *Drawn) AppendRow(ids []uint32, i int) (with []uint32, label uint8, probability float64) {
	if i < 0 || i >= d.Rows {
		panic("synth: no such record")
	}
	n := len(ids)
	ids = d.appendIDs(ids, d.records, i)
	probability = 1 / (1 + exp(-d.model.logit(ids[n:])))
	if unitOf(drawOf(d.records, i, d.Fields)) < probability {
		label = 1
	}
	for k := n; d.Spread > 1 && k < len(ids); k++ {
		ids[k] *= uint32(d.Spread)
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
func (d *Drawn) appendIDs(ids []uint32, key uint64, record int) []uint32 {
	first := 0
	for f, n := range d.sizes {
		u := unitOf(drawOf(key, record, f))
		u *= u
		ids = append(ids, uint32(first)+uint32(u*u*float64(n)))
		first += n
	}
	return ids
}
