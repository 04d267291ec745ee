package ring

import (
	"context"

	"fmt"

	"ringtrain/ring/internal/rows"
	"ringtrain/ring/internal/vec"
)

// maxRowDense bounds the dense elements that are summed by way of the workers' exchange buffers,
// beside what those say of each table.
const maxRowDense = exchangeElements - 4*MaxTables

// rowWords is how many words a worker says of a table's sum: how many rows it needs room
// for, whether all are finite, and of each part where it lies and how many rows it has.
func rowWords(parts int) int { return 2 + 2*parts }

// openRows is the agreement on NewRowSum. The workers learn from the first one, which is a
// driver where there are any, into how many parts and corners a driver's share is cut.
func (h *host) openRows(s *RowSum, tables []Table) (pieces, corners int, err error) {
	said := rows.IDs(h.ownBuffer().data[:2])
	said[0], said[1] = 1, 1
	if h.across != nil {
		s.x.init(h.across, tables)
		said[0], said[1] = uint32(h.across.rowParts()), uint32(h.across.rowCorners())
	}
	if err := h.agree(s.notice(0)); err != nil {
		return 0, 0, err
	}
	said = rows.IDs(h.bufferOf(0).data[:2])
	parts, corners := int(said[0]), int(said[1])
	if parts < 1 || parts > MaxWorldSize || corners < 1 || corners > MaxWorldSize {
		return 0, 0, h.blame(0, fmt.Errorf("%w: %d parts of rows for %d hosts", ErrCorruptFrame, parts, corners))
	}
	if s.x.w == nil { // it counts, but exchanges nothing
		s.x.reader.Wanted = make([]bool, len(tables))
	}
	if h.drivers == 0 {
		return len(h.workers), 1, nil
	}
	return h.drivers * parts, h.drivers * corners, nil
}

// sumRows sums rows, and r, over the workers of this host and, if there are other
// hosts, over those.
func (h *host) sumRows(s *RowSum, r Reduction) error {
	if h.drivers > 0 {
		if err := s.sumCounts(h.g.op.ctx, r); err != nil {
			return err
		}
		r = Reduction{}
	} else if len(r.Buf) > maxRowDense {
		if err := h.allReduce(r); err != nil {
			return err
		}
		r = Reduction{}
	}
	if err := h.offerRows(s, r); err != nil {
		return err
	}
	if err := h.standRows(s); err != nil {
		return err
	}
	h.sumBuffers(s, r)
	if err := h.makeRows(s); err != nil {
		return err
	}
	if err := h.agree(s.notice(0)); err != nil {
		return err
	}
	if err := h.takeRows(s); err != nil {
		return err
	}
	h.takeShards(s, r)
	return nil
}

// offerRows is the first agreement: it tells how many rows this worker has, and brings
// the others' counts, dense elements and tails.
func (h *host) offerRows(s *RowSum, r Reduction) error {
	own := h.ownBuffer()
	counts := rows.IDs(own.data[:])
	for i := range s.tables {
		counts[i] = uint32(len(s.tables[i].mine.IDs))
	}
	copy(own.data[len(s.tables):], r.Buf)
	n := s.notice(len(r.Buf))
	if r.Tails != nil {
		n.tails = 1
	}
	if err := h.begin(r, n); err != nil {
		return err
	}
	tables := len(s.tables)
	for local := range h.boards {
		said := s.said[local*tables:][:tables] // read once
		copy(said, rows.IDs(h.bufferOf(local).data[:tables]))
		for i, n := range said {
			if rows := s.tables[i].Rows; n > rows {
				return h.blame(local, fmt.Errorf("%w: table %d: %d rows, want at most %d", ErrCorruptFrame, i, n, rows))
			}
		}
	}
	return nil
}

// standRows makes memory for all workers' rows, and on one host for the result, where
// there is not enough, and moves what lies elsewhere into it.
func (h *host) standRows(s *RowSum) error {
	moved := false
	for i := range s.tables {
		t := &s.tables[i]
		most, total := 0, 0
		for local := range h.boards {
			n := int(s.said[local*len(s.tables)+i])
			most, total = max(most, n), total+n
		}
		if most > t.stand.capacity {
			moved = true
			if err := t.stand.ensure(h.g.op.ctx, h, t.Table, most); err != nil {
				return err
			}
			rows.Copy(t.stand.own(h.g), t.mine)
		}
		for local := range h.boards {
			t.parts[local] = t.stand.rows(local, 0, int(s.said[local*len(s.tables)+i]), t.Width)
		}
		if h.drivers > 0 {
			continue
		}
		t.counts.Rows = int64(total)
		if err := t.result[s.sums&1].stand.ensure(h.g.op.ctx, h, t.Table, h.widest(total)); err != nil {
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

// sumBuffers sums the dense elements of all workers' exchange buffers. Few of them each worker sums
// for itself; of more it sums a shard, which goes in its next exchange buffer.
func (h *host) sumBuffers(s *RowSum, r Reduction) {
	n := len(r.Buf)
	for i := range h.parts {
		h.parts[i] = h.bufferOf(i).data[len(s.tables):][:n]
	}
	if n <= smallElements {
		if n > 0 {
			sumParts(r.Buf, h.parts, 0, n)
		}
		return
	}
	if shard := shardSpan(n, len(h.parts), h.local); shard.len() > 0 {
		sumParts(h.ownBuffer().data[rowWords(1)*len(s.tables):][:shard.len()], h.parts, shard.lo, shard.hi)
	}
}

// takeShards copies the shards from all workers' exchange buffers.
func (h *host) takeShards(s *RowSum, r Reduction) {
	n := len(r.Buf)
	if n <= smallElements {
		return
	}
	for local := range h.boards {
		shard := shardSpan(n, len(h.boards), local)
		copy(r.Buf[shard.lo:shard.hi], h.bufferOf(local).data[rowWords(1)*len(s.tables):])
	}
}

// makeRows makes this worker's pieces of the result, and says in its next exchange buffer where
// they are.
func (h *host) makeRows(s *RowSum) error {
	if h.drivers > 0 {
		return h.driveRows(s)
	}
	for i := range s.tables {
		t := &s.tables[i]
		ids := rows.Range{
			Lo: rows.Balance(t.parts, t.Rows, h.local, len(h.boards)),
			Hi: rows.Balance(t.parts, t.Rows, h.local+1, len(h.boards)),
		}
		var sum rows.Buffer
		sum.Reset(t.result[s.sums&1].stand.own(h.g))
		if err := h.mergeRange(s, i, ids, &sum); err != nil {
			return err
		}
		said := h.saidOf(h.ownBuffer(), i, 1)
		said[0], said[1] = uint32(sum.Len()), finiteWord(sum.Rows(t.Width))
		said[2], said[3] = 0, uint32(sum.Len())
	}
	return nil
}

// saidOf are the words of an exchange buffer about a table.
func (h *host) saidOf(p *exchangeBuffer, table, parts int) []uint32 {
	return rows.IDs(p.data[table*rowWords(parts):][:rowWords(parts)])
}

func finiteWord(r rows.Run) uint32 {
	if vec.Finite(r.Values) {
		return 1
	}
	return 0
}

// mergeRange appends the sum of a range of all workers' ids to k.
func (h *host) mergeRange(s *RowSum, table int, ids rows.Range, k *rows.Buffer) error {
	t := &s.tables[table]
	for local, part := range t.parts {
		lo := part.Search(ids.Lo, 0, len(part.IDs))
		hi := part.Search(ids.Hi, lo, len(part.IDs))
		if ids.Hi == uint64(t.Rows) {
			hi = len(part.IDs) // with what is no row, to be found below
		}
		s.merger.Sources[local] = part.Cut(lo, hi, t.Width)
	}
	k.AppendSum(&s.merger, t.Width)
	for local, part := range s.merger.Sources {
		at := part.FirstInvalid(t.Rows)
		if at < 0 && len(part.IDs) > 0 && (uint64(part.IDs[0]) < ids.Lo || uint64(part.IDs[len(part.IDs)-1]) >= ids.Hi) {
			at = 0
		}
		if at >= 0 {
			return h.blame(local, t.wrongID(table, part, at))
		}
	}
	return nil
}

// takeRows is what comes after the last agreement: workers know all pieces. If one of them
// had too little room, all make more, and it moves its pieces there.
func (h *host) takeRows(s *RowSum) error {
	drivers, moved := len(h.workers), false
	if h.drivers > 0 {
		drivers = h.drivers
	}
	parts := s.pieces / drivers
	for i := range s.tables {
		t := &s.tables[i]
		result, need := &t.result[s.sums&1], 0
		for d := range drivers {
			room := h.saidOf(h.bufferOf(d), i, parts)[0]
			if uint64(room) > t.mostRoom() {
				return h.blame(d, fmt.Errorf("%w: table %d: room for %d rows, want at most %d", ErrCorruptFrame, i, room, t.mostRoom()))
			}
			need = max(need, int(room))
		}
		if need > result.stand.capacity {
			if err := result.stand.ensure(h.g.op.ctx, h, t.Table, need); err != nil {
				return err
			}
			if moved = true; h.across != nil {
				rows.Copy(result.stand.own(h.g), s.x.tables[i].sum.Rows(t.Width))
			}
		}
		t.finite, t.counts.Union = true, 0
		for d := range drivers {
			if err := h.takePieces(t, result, d, i, parts); err != nil {
				return err
			}
		}
	}
	if moved {
		return h.sync()
	}
	return nil
}

// mostRoom bounds how many rows a sum needs room for: those of all ranks, or of the table and
// a block that is being added.
func (t *tableSum) mostRoom() uint64 {
	return min(uint64(t.counts.Rows), uint64(t.Rows)+rows.MaxBlockRows)
}

// takePieces takes a driver's pieces of a table's sum as they lie in its memory.
func (h *host) takePieces(t *tableSum, result *rowSet, driver, table, parts int) error {
	said := h.saidOf(h.bufferOf(driver), table, parts)
	t.finite = t.finite && said[1] == 1
	for k := range parts {
		from, n := uint64(said[2+2*k]), uint64(said[3+2*k])
		if from+n > uint64(result.stand.capacity) {
			return h.blame(driver, fmt.Errorf("%w: table %d: rows from %d to %d, want at most %d", ErrCorruptFrame, table, from, from+n, result.stand.capacity))
		}
		result.pieces[driver*parts+k] = result.stand.rows(driver, int(from), int(from+n), t.Width)
		t.counts.Union += int(n)
	}
	return nil
}

// A rowStand is memory for rows of a table, as much for each worker of the host.
type rowStand struct {
	capacity int        // rows
	parts    []rows.Run // by local rank, of capacity rows
}

// own is this worker's part.
func (st *rowStand) own(g *Group) rows.Run {
	switch {
	case st.capacity == 0:
		return rows.Run{}
	case len(st.parts) == 1:
		return st.parts[0]
	default:
		return st.parts[g.host.local]
	}
}

// rows are the rows [lo, hi) of a worker's part.
func (st *rowStand) rows(local, lo, hi, width int) rows.Run {
	if lo == hi {
		return rows.Run{} // there may be no parts yet
	}
	return st.parts[local].Cut(lo, hi, width)
}

// make makes private memory.
func (st *rowStand) make(capacity, width int) {
	st.capacity, st.parts = capacity, append(st.parts[:0:0], rows.Make(capacity, width))
}

// roomier is how much a stand has when it must have room for n rows: somewhat more, so
// that it need not grow often, but not more rows than there are, and whole cache lines.
func roomier(n int, rows uint32) int {
	n = min(n+n/4+lineElements, max(n, int(rows)))
	return (n + lineElements - 1) / lineElements * lineElements
}

// ensure makes room for n rows on each worker of the host. All call it alike.
// What was there stays where it was, until the group's Close.
func (st *rowStand) ensure(ctx context.Context, h *host, t Table, n int) error {
	if n <= st.capacity {
		return nil
	}
	capacity := roomier(n, t.Rows)
	memory, err := h.share(ctx, capacity*(1+t.Width))
	if err != nil {
		return err
	}
	parts := make([]rows.Run, len(memory))
	for i, part := range memory {
		parts[i] = rows.Run{IDs: rows.IDs(part[:capacity]), Values: part[capacity:]}
	}
	st.capacity, st.parts = capacity, parts
	return nil
}

// share makes n zeros for each worker of the host, in a running operation.
func (h *host) share(ctx context.Context, n int) ([][]float32, error) {
	h.g.waitFor(inside, h.step)
	parts, err := h.memory.Arena(ctx, n)
	if err != nil {
		return nil, h.g.fail(inside, h.step, err)
	}
	h.g.waitFor(nobody, h.step)
	return parts, nil
}
