package ring

import (
	"fmt"

	"ringtrain/ring/internal/rows"
	"ringtrain/ring/internal/vec"
)

// countDigit is the base of the two digits in which a row count travels. Each digit is a
// float32 whose sum over all ranks is exact.
const countDigit = 1 << 12

// sumFlat sums over the links of a group whose ranks share no memory.
func (s *RowSum) sumFlat(op *operation, w *wire, r Reduction) error {
	overLinks := func(op *operation, r Reduction) error { return w.allReduce(op, r, nil) }
	if err := s.sumCounts(op, r, overLinks); err != nil {
		return err
	}
	for i := range s.tables {
		t := &s.tables[i]
		t.divide(s.sums)
		s.prepareExchange(i, t.input, 0, 1)
	}
	if err := s.sumAcross(op, w, 0, 1); err != nil {
		return err
	}
	for i := range s.tables {
		t, x := &s.tables[i], &s.exchange.tables[i]
		result := &t.results[s.sums&1]
		if x.sum.Moved() {
			result.memory.capacity, result.memory.parts = x.sum.Memory().Len(), append(result.memory.parts[:0], x.sum.Memory())
		}
		for k, part := range s.exchange.order {
			p := x.parts[part]
			result.pieces[k] = x.sum.Memory().Cut(p.from, p.from+p.rows, t.Width)
		}
		t.counts.Union = x.sum.Len()
		t.finite = vec.Finite(x.sum.Rows(t.Width).Values)
	}
	return nil
}

// sumDriver is the part of a sum between hosts. Each driver sums its share of the ids over
// its host and then over all hosts. All workers divide the ids alike.
func (s *RowSum) sumDriver(op *operation, h *host) error {
	for i := range s.tables {
		s.tables[i].divide(s.sums)
	}
	if h.across == nil {
		return nil
	}
	for i := range s.tables {
		t := &s.tables[i]
		if len(h.workers) == 1 {
			s.prepareExchange(i, t.input, 0, 1)
			continue
		}
		t.merged.Clear()
		if err := s.mergeRange(op, h, i, t.split.Of(h.local, h.drivers), &t.merged); err != nil {
			return err
		}
		s.prepareExchange(i, t.merged.Rows(t.Width), h.local, h.drivers)
	}
	if err := s.sumAcross(op, h.across, h.local, h.drivers); err != nil {
		return err
	}
	parts := s.pieces / h.drivers
	for i := range s.tables {
		t, x := &s.tables[i], &s.exchange.tables[i]
		report := rowReport(h.ownBuffer(), i, parts)
		report[0], report[1] = 0, finiteWord(x.sum.Rows(t.Width))
		if x.sum.Moved() {
			report[0] = uint32(min(uint64(x.sum.Memory().Len()), t.maxRoom()))
		}
		for k, part := range s.exchange.order {
			report[2+2*k], report[3+2*k] = uint32(x.parts[part].from), uint32(x.parts[part].rows)
		}
	}
	return nil
}

// sumCounts sums the dense elements over all ranks, fills in the tails, and sums the row
// counts of all ranks. Up to smallElements dense elements travel with the counts; more are
// summed in place by an all-reduce of their own.
func (s *RowSum) sumCounts(op *operation, r Reduction, reduce func(*operation, Reduction) error) error {
	if len(r.Buf) > smallElements {
		if err := reduce(op, r); err != nil {
			return err
		}
		r = Reduction{}
	}
	if err := reduce(op, s.packBucket(r)); err != nil {
		return err
	}
	return s.unpackBucket(op, r.Buf)
}

// packBucket returns r with this rank's row counts behind its elements.
func (s *RowSum) packBucket(r Reduction) Reduction {
	dense := len(r.Buf)
	s.bucket = vec.Resize(s.bucket, dense+2*len(s.tables))
	copy(s.bucket, r.Buf)
	for i := range s.tables {
		n := s.tables[i].input.Len()
		s.bucket[dense+2*i], s.bucket[dense+2*i+1] = float32(n%countDigit), float32(n/countDigit)
	}
	r.Buf = s.bucket
	return r
}

// unpackBucket copies the sums of the elements to dense and chooses the way of each table by
// the sums of the counts. All ranks choose alike.
func (s *RowSum) unpackBucket(op *operation, dense []float32) error {
	counts := s.bucket[copy(dense, s.bucket):]
	for i := range s.tables {
		t := &s.tables[i]
		n := float64(counts[2*i]) + countDigit*float64(counts[2*i+1])
		if most := float64(s.ranks) * float64(t.Rows); !(n >= 0 && n <= most) {
			return fmt.Errorf("ring: rows %d: %w", op.seq, withCode(fmt.Errorf("%w: table %d: %g rows of all ranks, want 0 to %g", ErrCorruptFrame, i, n, most)))
		}
		t.counts.Rows = int64(n)
		t.way = WayOfRows(t.Table, t.counts.Rows)
		s.exchange.reader.Wanted[i] = t.way == ByRows
	}
	return nil
}

// divide divides the ids of t among the workers of an exchange. It follows the ids of the
// last sum, which are similar, if that sum went by rows.
func (t *tableSum) divide(sums int) {
	if t.way == ByDense || sums == 0 {
		t.split.Even(t.Rows)
		return
	}
	t.split.Follow(t.results[(sums-1)&1].pieces, t.Rows)
}

// prepareExchange sets up the exchange of a table. own is what this worker contributes: rows
// of the share of one of several drivers.
func (s *RowSum) prepareExchange(table int, own rows.Run, driver, drivers int) {
	t, x := &s.tables[table], &s.exchange.tables[table]
	x.own = own
	corners := (len(t.split) - 1) / drivers
	x.split = t.split[driver*corners : (driver+1)*corners+1]
	clear(x.parts)
	x.sum.Reset(t.results[s.sums&1].memory.own(s.local))
}

// sumAcross sums the share of a driver over the workers of w: first the tables that go
// densely, then those that go by rows.
func (s *RowSum) sumAcross(op *operation, w *wire, driver, drivers int) error {
	byRows := false
	for i := range s.tables {
		t, x := &s.tables[i], &s.exchange.tables[i]
		if t.way == ByRows {
			byRows = true
			continue
		}
		ids := t.split.Of(driver, drivers)
		if err := s.dense.sum(op, w, x, ids); err != nil {
			return err
		}
		x.parts[s.exchange.order[0]] = rowPart{ids, 0, x.sum.Len()}
	}
	if !byRows {
		return nil
	}
	return s.exchange.run(op, w, s.hash)
}

// rowDense sums rows of a range of a table as a dense buffer of all rows of the range.
type rowDense struct {
	rows.Dense
	present Gathered // bits of all workers
}

// sum appends the sum of all workers' own rows of x to the sum of x. It is two collectives: an
// all-reduce of the values and an all-gather of the bits that tell which rows are present.
func (d *rowDense) sum(op *operation, w *wire, x *tableExchange, ids rows.Range) error {
	d.Fill(x.own, ids, x.Width)
	if err := w.allReduce(op, Reduction{Buf: d.Values}, nil); err != nil {
		return err
	}
	if err := w.gather.around(w, op, d.Present, &d.present, terms{kind: opAllGather}); err != nil {
		return err
	}
	for rank := range w.members.Size() {
		theirs := d.present.At(rank)
		if len(theirs) != len(d.Present) {
			err := fmt.Errorf("%w: %d bytes of bits, want %d", ErrCorruptFrame, len(theirs), len(d.Present))
			return op.errorOf(w.members.Workers[rank], err)
		}
		for i, b := range theirs {
			d.Present[i] |= b
		}
	}
	d.AppendTo(&x.sum, ids, x.Width)
	return nil
}
