package ring

import (
	"context"
	"fmt"

	"ringtrain/ring/internal/rows"
	"ringtrain/ring/internal/vec"
)

// countDigit is the base of the two digits in which a row count travels. Each digit is a
// float32 whose sum over all ranks is exact.
const countDigit = 1 << 12

// sumFlat sums over the links of a group whose ranks share no memory.
func (s *RowSum) sumFlat(ctx context.Context, dense []float32, tails []byte) error {
	if err := s.sumCounts(ctx, Reduction{Buf: dense, Tails: tails}); err != nil {
		return err
	}
	for i := range s.tables {
		t := &s.tables[i]
		t.divide(s.sums)
		s.prepareExchange(i, t.input, 0, 1)
	}
	if err := s.sumAcross(ctx, s.g.wire, 0, 1); err != nil {
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
func (h *host) sumDriver(s *RowSum) error {
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
		if err := h.mergeRange(s, i, t.split.Of(h.local, h.drivers), &t.merged); err != nil {
			return err
		}
		s.prepareExchange(i, t.merged.Rows(t.Width), h.local, h.drivers)
	}
	if err := s.sumAcross(h.g.op.ctx, h.across, h.local, h.drivers); err != nil {
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
// summed in place by an operation of their own.
func (s *RowSum) sumCounts(ctx context.Context, r Reduction) error {
	if len(r.Buf) > smallElements {
		if err := s.reduce(ctx, r); err != nil {
			return err
		}
		r = Reduction{}
	}
	if err := s.reduce(ctx, s.packBucket(r)); err != nil {
		return err
	}
	return s.unpackBucket(r.Buf)
}

// reduce is an all-reduce of its own over links, or a part of the running operation of a
// host.
func (s *RowSum) reduce(ctx context.Context, r Reduction) error {
	if s.g.host != nil {
		return s.g.host.allReduce(r)
	}
	return s.g.AllReduce(ctx, r)
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
func (s *RowSum) unpackBucket(dense []float32) error {
	counts := s.bucket[copy(dense, s.bucket):]
	for i := range s.tables {
		t := &s.tables[i]
		n := float64(counts[2*i]) + countDigit*float64(counts[2*i+1])
		if most := float64(s.g.members.Size()) * float64(t.Rows); !(n >= 0 && n <= most) {
			return s.g.end(fmt.Errorf("ring: rows %d: %w", s.g.seq-1, withCode(fmt.Errorf("%w: table %d: %g rows of all ranks, want 0 to %g", ErrCorruptFrame, i, n, most))))
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
	x.sum.Reset(t.results[s.sums&1].memory.own(s.g))
}

// sumAcross sums the share of a driver over the workers of w: first the tables that go
// densely, then those that go by rows.
func (s *RowSum) sumAcross(ctx context.Context, w *wire, driver, drivers int) error {
	byRows := false
	for i := range s.tables {
		t, x := &s.tables[i], &s.exchange.tables[i]
		if t.way == ByRows {
			byRows = true
			continue
		}
		ids := t.split.Of(driver, drivers)
		if err := s.dense.sum(ctx, w, t.Table, ids, x.own, &x.sum); err != nil {
			return err
		}
		x.parts[s.exchange.order[0]] = rowPart{ids, 0, x.sum.Len()}
	}
	if !byRows {
		return nil
	}
	if err := w.begin(ctx, opRows, 0); err != nil {
		return err
	}
	defer w.finish()
	return s.exchange.run(s.hash)
}

// rowDense sums rows of a range of a table as a dense buffer of all rows of the range.
type rowDense struct {
	rows.Dense
	present Gathered // bits of all workers
}

// sum appends the sum of all workers' own rows to dst. It is two collectives: an all-reduce
// of the values and an all-gather of the bits that tell which rows are present.
func (d *rowDense) sum(ctx context.Context, w *wire, t Table, ids rows.Range, own rows.Run, dst *rows.Buffer) error {
	d.Fill(own, ids, t.Width)
	if err := d.reduce(ctx, w); err != nil {
		return err
	}
	if err := w.allGather(ctx, d.Present, &d.present); err != nil {
		return err
	}
	for rank := range w.members.Size() {
		theirs := d.present.At(rank)
		if len(theirs) != len(d.Present) {
			worker := w.members.Workers[rank]
			err := withCode(fmt.Errorf("%w: %d bytes of bits, want %d", ErrCorruptFrame, len(theirs), len(d.Present)))
			return w.g.end(&PeerError{Op: opRows.String(), Seq: w.g.seq - 1, Rank: worker.Rank, Host: worker.Host, Addr: worker.Addr, Err: err})
		}
		for i, b := range theirs {
			d.Present[i] |= b
		}
	}
	d.AppendTo(dst, ids, t.Width)
	return nil
}

// reduce sums the values over the workers of w.
func (d *rowDense) reduce(ctx context.Context, w *wire) error {
	if err := w.begin(ctx, opAllReduce, len(d.Values)); err != nil {
		return err
	}
	defer w.finish()
	return w.allReduce(ctx, Reduction{Buf: d.Values}, nil)
}
