package ring

import (
	"context"
	"fmt"

	"ringtrain/ring/internal/rows"
	"ringtrain/ring/internal/vec"
)

// Counts travel as two floats each, low digits first, whose sums over the ranks are exact.
const countDigit = 1 << 12

// sumCounts sums the dense elements and fills in the tails, and has all ranks know
// the counts of rows. Few elements take the counts with them; more stay where they lie.
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

// reduce is an all-reduce over links, or part of the running operation on a host.
func (s *RowSum) reduce(ctx context.Context, r Reduction) error {
	if s.g.host != nil {
		return s.g.host.allReduce(r)
	}
	return s.g.AllReduce(ctx, r)
}

// packBucket returns r with this rank's counts behind its elements.
func (s *RowSum) packBucket(r Reduction) Reduction {
	n := len(r.Buf)
	s.bucket = growFloats(s.bucket, n+2*len(s.tables))
	copy(s.bucket, r.Buf)
	for i := range s.tables {
		rows := len(s.tables[i].mine.IDs)
		s.bucket[n+2*i], s.bucket[n+2*i+1] = float32(rows%countDigit), float32(rows/countDigit)
	}
	r.Buf = s.bucket
	return r
}

// unpackBucket copies the sum of packBucket's elements to dense, and chooses by the sums
// of counts how each table goes, as all ranks do.
func (s *RowSum) unpackBucket(dense []float32) error {
	counts := s.bucket[copy(dense, s.bucket):]
	for i := range s.tables {
		t := &s.tables[i]
		rows := float64(counts[2*i]) + countDigit*float64(counts[2*i+1])
		if most := float64(s.g.members.Size()) * float64(t.Rows); !(rows >= 0 && rows <= most) {
			return s.g.end(fmt.Errorf("ring: rows %d: %w", s.g.seq-1, withCode(fmt.Errorf("%w: table %d: %g rows of all ranks, want 0 to %g", ErrCorruptFrame, i, rows, most))))
		}
		t.counts.Rows = int64(rows)
		t.way = WayOfRows(t.Table, t.counts.Rows)
		s.x.reader.Wanted[i] = t.way == ByRows
	}
	return nil
}

// sumFlat sums over the links of the group.
func (s *RowSum) sumFlat(ctx context.Context, dense []float32, tails []byte) error {
	if err := s.sumCounts(ctx, Reduction{Buf: dense, Tails: tails}); err != nil {
		return err
	}
	for i := range s.tables {
		t := &s.tables[i]
		t.splitAfter(s.sums)
		s.aim(i, t.mine, 0, 1)
	}
	if err := s.sumDense(ctx, s.g.wire, 0, 1); err != nil {
		return err
	}
	if err := s.exchange(ctx, s.g.wire); err != nil {
		return err
	}
	for i := range s.tables {
		t, x := &s.tables[i], &s.x.tables[i]
		result := &t.result[s.sums&1]
		if x.sum.Moved() {
			result.stand.capacity, result.stand.parts = x.sum.Memory().Len(), append(result.stand.parts[:0], x.sum.Memory())
		}
		for k, part := range s.x.order {
			p := x.parts[part]
			result.pieces[k] = x.sum.Memory().Cut(p.from, p.from+p.rows, t.Width)
		}
		t.counts.Union = x.sum.Len()
		t.finite = vec.Finite(x.sum.Rows(t.Width).Values)
	}
	return nil
}

// splitAfter cuts the ids of t by what the last sum had.
func (t *tableSum) splitAfter(sums int) {
	if t.way == ByDense || sums == 0 {
		t.split.Even(t.Rows)
		return
	}
	t.split.Follow(t.result[(sums-1)&1].pieces, t.Rows)
}

// aim readies the exchange of a table, in which this worker has own rows of the share of
// a driver.
func (s *RowSum) aim(table int, own rows.Run, driver, drivers int) {
	t, x := &s.tables[table], &s.x.tables[table]
	x.own = own
	corners := (len(t.split) - 1) / drivers
	x.split = t.split[driver*corners : (driver+1)*corners+1]
	clear(x.parts)
	x.sum.Reset(t.result[s.sums&1].stand.own(s.g))
}

// sumDense sums the tables that go densely.
func (s *RowSum) sumDense(ctx context.Context, w *wire, driver, drivers int) error {
	for i := range s.tables {
		t, x := &s.tables[i], &s.x.tables[i]
		if t.way == ByRows {
			continue
		}
		ids := t.share(driver, drivers)
		if err := s.dense.sum(ctx, w, t.Table, ids, x.own, &x.sum); err != nil {
			return err
		}
		x.parts[s.x.order[0]] = rowPart{ids, 0, x.sum.Len()}
	}
	return nil
}

// share is the range of ids of one of several drivers.
func (t *tableSum) share(driver, drivers int) rows.Range {
	n := len(t.split) - 1
	return rows.Range{Lo: t.split[n*driver/drivers], Hi: t.split[n*(driver+1)/drivers]}
}

// exchange sums the tables that go by rows, if there is one.
func (s *RowSum) exchange(ctx context.Context, w *wire) error {
	any := false
	for _, wanted := range s.x.reader.Wanted {
		any = any || wanted
	}
	if !any {
		return nil
	}
	if err := w.begin(ctx, opRows, 0); err != nil {
		return err
	}
	defer w.finish()
	return s.x.sum(s.hash)
}

// A rowDense sums rows of a range of a table as a buffer with all of its rows, and
// gathers which rows there are.
type rowDense struct {
	rows.Dense
	all Gathered
}

// sum appends the sum of all workers' own rows of a range to k. It is two operations.
func (d *rowDense) sum(ctx context.Context, w *wire, t Table, ids rows.Range, own rows.Run, k *rows.Buffer) error {
	d.Fill(own, ids, t.Width)
	if err := d.reduce(ctx, w); err != nil {
		return err
	}
	if err := w.allGather(ctx, d.Present, &d.all); err != nil {
		return err
	}
	for rank := range w.members.Size() {
		theirs := d.all.At(rank)
		if len(theirs) != len(d.Present) {
			worker := w.members.Workers[rank]
			err := withCode(fmt.Errorf("%w: %d bytes of bits, want %d", ErrCorruptFrame, len(theirs), len(d.Present)))
			return w.g.end(&PeerError{Op: opRows.String(), Seq: w.g.seq - 1, Rank: worker.Rank, Host: worker.Host, Addr: worker.Addr, Err: err})
		}
		for i, b := range theirs {
			d.Present[i] |= b
		}
	}
	d.AppendTo(k, ids, t.Width)
	return nil
}

// reduce sums the buffer over the workers of w.
func (d *rowDense) reduce(ctx context.Context, w *wire) error {
	if err := w.begin(ctx, opAllReduce, len(d.Values)); err != nil {
		return err
	}
	defer w.finish()
	return w.allReduce(ctx, Reduction{Buf: d.Values}, nil)
}

// driveRows is what workers of a host do where there are other hosts: each driver sums
// its share of the ids over the host, and then over all hosts.
func (h *host) driveRows(s *RowSum) error {
	for i := range s.tables {
		s.tables[i].splitAfter(s.sums)
	}
	if h.across == nil {
		return nil
	}
	for i := range s.tables {
		t := &s.tables[i]
		if len(h.workers) == 1 {
			s.aim(i, t.mine, 0, 1)
			continue
		}
		t.merged.Clear()
		if err := h.mergeRange(s, i, t.share(h.local, h.drivers), &t.merged); err != nil {
			return err
		}
		s.aim(i, t.merged.Rows(t.Width), h.local, h.drivers)
	}
	if err := h.sumAcross(s); err != nil {
		return err
	}
	parts := s.pieces / h.drivers
	for i := range s.tables {
		t, x := &s.tables[i], &s.x.tables[i]
		said := h.saidOf(h.ownBuffer(), i, parts)
		said[0], said[1] = 0, finiteWord(x.sum.Rows(t.Width))
		if x.sum.Moved() {
			said[0] = uint32(min(uint64(x.sum.Memory().Len()), t.mostRoom()))
		}
		for k, part := range s.x.order {
			said[2+2*k], said[3+2*k] = uint32(x.parts[part].from), uint32(x.parts[part].rows)
		}
	}
	return nil
}

// sumAcross sums what this driver has of its host over all hosts.
func (h *host) sumAcross(s *RowSum) error {
	if err := s.sumDense(h.g.op.ctx, h.across, h.local, h.drivers); err != nil {
		return err
	}
	return s.exchange(h.g.op.ctx, h.across)
}
