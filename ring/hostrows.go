package ring

import (
	"errors"
	"fmt"

	"ringtrain/ring/internal/vec"
)

// maxRowDense bounds the dense elements that are summed by way of the workers' pages,
// beside two numbers for each table.
const maxRowDense = pageElements - 2*MaxTables

// sumRows sums rows, and r, over the workers of this host and, if there are other
// hosts, over those. Between hosts r goes by an all-reduce of its own.
func (h *host) sumRows(s *RowSum, r Reduction) error {
	if len(r.Buf) > maxRowDense || h.drivers > 0 {
		if err := h.allReduce(r); err != nil {
			return err
		}
		r = Reduction{}
	}
	if h.drivers > 0 {
		return h.g.end(errors.New("ring: rows between hosts are not summed yet"))
	}
	if err := h.offerRows(s, r); err != nil {
		return err
	}
	if err := h.takeCounts(s); err != nil {
		return err
	}
	if err := h.standRows(s); err != nil {
		return err
	}
	h.sumPages(s, r)
	if err := h.mergeRows(s); err != nil {
		return err
	}
	if err := h.meet(s.notice(0)); err != nil {
		return err
	}
	return h.takeResults(s, r)
}

// offerRows is the first meeting: it tells how many rows this worker has, and brings
// the others' counts, dense elements and tails.
func (h *host) offerRows(s *RowSum, r Reduction) error {
	own := h.page()
	counts := idsIn(own.data[:])
	for i := range s.tables {
		counts[i] = uint32(len(s.tables[i].mine.ids))
	}
	copy(own.data[len(s.tables):], r.Buf)
	n := s.notice(len(r.Buf))
	if r.Tails != nil {
		n.tails = 1
	}
	return h.begin(r, n)
}

// takeCounts reads once what the workers have said, and checks it.
func (h *host) takeCounts(s *RowSum) error {
	tables := len(s.tables)
	for local := range h.boards {
		said := s.said[local*tables:][:tables]
		copy(said, idsIn(h.posted(local).data[:tables]))
		for i, n := range said {
			if rows := s.tables[i].Rows; n > rows {
				return h.blame(local, fmt.Errorf("%w: table %d: %d rows, want at most %d", ErrCorruptFrame, i, n, rows))
			}
		}
	}
	return nil
}

// standRows makes memory for all workers' rows and for the result, where there is not
// enough, and moves what lies elsewhere into it.
func (h *host) standRows(s *RowSum) error {
	moved := false
	for i := range s.tables {
		t := &s.tables[i]
		most, total := 0, 0
		for local := range h.boards {
			n := int(s.said[local*len(s.tables)+i])
			most, total = max(most, n), total+n
		}
		t.counts = RowCounts{Rows: int64(total), Most: most}
		if most > t.stand.capacity {
			moved = true
			if err := t.stand.ensure(h.g.op.ctx, h, t.Table, most); err != nil {
				return err
			}
			copyRows(t.stand.own(h.g), t.mine)
		}
		result := &t.result[s.sums&1].stand
		if err := result.ensure(h.g.op.ctx, h, t.Table, h.widest(total)); err != nil {
			return err
		}
	}
	if moved {
		return h.sync()
	}
	return nil
}

// widest is how many rows the range of one worker may have of total: a share of them,
// and as many as workers have the same id.
func (h *host) widest(total int) int { return total/len(h.workers) + len(h.workers) + 1 }

// sumPages sums the dense elements of all workers' pages. Few of them each worker sums
// for itself; of more it sums a shard, which goes on its next page.
func (h *host) sumPages(s *RowSum, r Reduction) {
	n := len(r.Buf)
	if n == 0 {
		return
	}
	for i := range h.parts {
		h.parts[i] = h.posted(i).data[len(s.tables):][:n]
	}
	if n <= smallElements {
		sumInto(r.Buf, h.parts, span{0, n})
		return
	}
	shard := shardSpan(n, len(h.parts), h.local)
	if shard.len() > 0 {
		sumInto(h.page().data[2*len(s.tables):][:shard.len()], h.parts, shard)
	}
}

// mergeRows sums this worker's range of ids of each table, and says on its next page
// how many rows that gives and whether all are finite.
func (h *host) mergeRows(s *RowSum) error {
	said := idsIn(h.page().data[:])
	for i := range s.tables {
		t := &s.tables[i]
		for local := range h.boards {
			t.parts[local] = t.stand.parts[local].cut(0, int(s.said[local*len(s.tables)+i]), t.Width)
		}
		r := rowRange{balanced(t.parts, t.Rows, h.local, len(h.boards)), balanced(t.parts, t.Rows, h.local+1, len(h.boards))}
		sum, err := h.mergeRange(s, i, r)
		if err != nil {
			return err
		}
		said[2*i], said[2*i+1] = uint32(len(sum.ids)), 0
		if vec.Finite(sum.values) {
			said[2*i+1] = 1
		}
	}
	return nil
}

// mergeRange sums the ids of a range into this worker's part of the result.
func (h *host) mergeRange(s *RowSum, table int, r rowRange) (rowRun, error) {
	t, total := &s.tables[table], 0
	for local, part := range t.parts {
		lo := part.from(r.lo, 0, len(part.ids))
		hi := part.from(r.hi, lo, len(part.ids))
		if r.hi == uint64(t.Rows) {
			hi = len(part.ids) // an id beyond is found by disorder
		}
		s.merger.sources[local] = part.cut(lo, hi, t.Width)
		total += hi - lo
	}
	dst := t.result[s.sums&1].stand.own(h.g)
	if total > len(dst.ids) {
		dst = newRowRun(total, t.Width) // ids that do not ascend have no balanced range
	}
	n := s.merger.merge(dst, t.Width)
	for local, part := range s.merger.sources {
		if err := h.checkIDs(t, table, local, part, r); err != nil {
			return rowRun{}, err
		}
	}
	return dst.cut(0, n, t.Width), nil
}

// checkIDs blames a worker whose part of a range is not in it, by ascending ids.
func (h *host) checkIDs(t *tableSum, table, local int, part rowRun, r rowRange) error {
	at := part.disorder(t.Rows)
	if at < 0 && len(part.ids) > 0 && (uint64(part.ids[0]) < r.lo || uint64(part.ids[len(part.ids)-1]) >= r.hi) {
		at = 0
	}
	if at < 0 {
		return nil
	}
	return h.blame(local, t.wrongID(table, part, at))
}

// takeResults is what comes after the last meeting: the workers' ranges are the pieces.
func (h *host) takeResults(s *RowSum, r Reduction) error {
	for i := range s.tables {
		t := &s.tables[i]
		result := &t.result[s.sums&1]
		t.finite = true
		t.counts.Union = 0
		for local := range h.boards {
			said := idsIn(h.posted(local).data[:])
			n, finite := said[2*i], said[2*i+1]
			if uint64(n) > uint64(result.stand.capacity) {
				return h.blame(local, fmt.Errorf("%w: table %d: sum of %d rows, want at most %d", ErrCorruptFrame, i, n, result.stand.capacity))
			}
			result.pieces[local] = result.stand.parts[local].cut(0, int(n), t.Width)
			t.finite = t.finite && finite == 1
			t.counts.Union += int(n)
		}
	}
	if n := len(r.Buf); n > smallElements {
		for local := range h.boards {
			shard := shardSpan(n, len(h.boards), local)
			copy(r.Buf[shard.lo:shard.hi], h.posted(local).data[2*len(s.tables):])
		}
	}
	return nil
}
