package ring

import (
	"fmt"

	"ringtrain/ring/internal/rows"
	"ringtrain/ring/internal/vec"
)

// A sum of rows on a host has two agreements. At the first each worker posts its row counts
// and, if there is one host only, its dense elements. Each worker then merges a range of the
// ids of all workers; with several hosts each driver merges its share and sums the share over
// the hosts. At the second agreement each worker posts where its pieces of the result lie. After
// either agreement the workers allocate more memory if one of them needs it, and synchronize once more.

// maxRowDense bounds the dense elements that travel in the exchange buffers, beside the
// reports about the tables. More are summed by an all-reduce.
const maxRowDense = exchangeElements - 4*MaxTables

// rowReportWords returns the number of words that a worker reports about the sum of a table:
// the rows that it needs memory for, whether all values are finite, and for each part the
// index of its first row and its number of rows.
func rowReportWords(parts int) int { return 2 + 2*parts }

// rowReport returns the words of an exchange buffer about a table.
func rowReport(b *exchangeBuffer, table, parts int) []uint32 {
	return rows.IDs(b.data[table*rowReportWords(parts):][:rowReportWords(parts)])
}

// finiteWord returns 1 if all values of r are finite, else 0.
func finiteWord(r rows.Run) uint32 {
	if vec.Finite(r.Values) {
		return 1
	}
	return 0
}

// openRows is the agreement on NewRowSum. It returns the number of pieces of a result and of
// ranges into which the ids are divided. The workers learn both from the first worker, which
// is a driver if there are several hosts.
func (h *host) openRows(op *operation, s *RowSum, tables []Table) (pieces, corners int, err error) {
	words := rows.IDs(h.ownBuffer().data[:2])
	words[0], words[1] = 1, 1
	if h.across != nil {
		s.exchange.init(h.across, tables)
		words[0], words[1] = uint32(h.across.rowParts()), uint32(h.across.rowCorners())
	}
	if err := h.agree(op, s.terms(op, 0)); err != nil {
		return 0, 0, err
	}
	words = rows.IDs(h.bufferOf(0).data[:2])
	parts, corners := int(words[0]), int(words[1])
	if parts < 1 || parts > MaxWorldSize || corners < 1 || corners > MaxWorldSize {
		return 0, 0, h.blame(op, 0, fmt.Errorf("%w: %d parts of rows for %d hosts", ErrCorruptFrame, parts, corners))
	}
	if h.across == nil { // this worker takes part in the choice of ways only
		s.exchange.reader.Wanted = make([]bool, len(tables))
	}
	if h.drivers == 0 {
		return len(h.workers), 1, nil
	}
	return h.drivers * parts, h.drivers * corners, nil
}

// sumRows sums the input and r over the workers of this host and of all other hosts.
func (h *host) sumRows(op *operation, s *RowSum, r Reduction) error {
	if h.drivers > 0 {
		if err := s.sumCounts(op, r, h.allReduce); err != nil {
			return err
		}
		r = Reduction{}
	} else if len(r.Buf) > maxRowDense {
		if err := h.allReduce(op, r); err != nil {
			return err
		}
		r = Reduction{}
	}
	if err := s.postCounts(op, h, r); err != nil {
		return err
	}
	if err := s.placeRows(op, h); err != nil {
		return err
	}
	s.sumPosted(h, r)
	if err := s.mergeRows(op, h); err != nil {
		return err
	}
	if err := h.agree(op, s.terms(op, 0)); err != nil {
		return err
	}
	if err := s.readResults(op, h); err != nil {
		return err
	}
	s.copyShards(h, r)
	return nil
}

// postCounts is the first agreement. It posts this worker's row counts, dense elements and
// tail, and reads the row counts of all workers.
func (s *RowSum) postCounts(op *operation, h *host, r Reduction) error {
	own := h.ownBuffer()
	counts := rows.IDs(own.data[:])
	for i := range s.tables {
		counts[i] = uint32(s.tables[i].input.Len())
	}
	copy(own.data[len(s.tables):], r.Buf)
	n := s.terms(op, len(r.Buf))
	if r.Tails != nil {
		n.tails = 1
	}
	if err := h.begin(op, r, n); err != nil {
		return err
	}
	tables := len(s.tables)
	for local := range h.boards {
		posted := s.posted[local*tables:][:tables]
		copy(posted, rows.IDs(h.bufferOf(local).data[:tables])) // read once: see rows.Run
		for i, n := range posted {
			if most := s.tables[i].Rows; n > most {
				return h.blame(op, local, fmt.Errorf("%w: table %d: %d rows, want at most %d", ErrCorruptFrame, i, n, most))
			}
		}
	}
	return nil
}

// placeRows finds the rows of all workers in shared memory. It first allocates memory for a
// table if one worker has more rows than before, and copies the input there. On one host it
// also allocates memory for the result.
func (s *RowSum) placeRows(op *operation, h *host) error {
	moved := false
	for i := range s.tables {
		t := &s.tables[i]
		most, total := 0, 0
		for local := range h.boards {
			n := int(s.posted[local*len(s.tables)+i])
			most, total = max(most, n), total+n
		}
		if most > t.memory.capacity {
			moved = true
			if err := t.memory.ensure(op, h, t.Table, most); err != nil {
				return err
			}
			rows.Copy(t.memory.own(h.local), t.input)
		}
		for local := range h.boards {
			t.sources[local] = t.memory.cut(local, 0, int(s.posted[local*len(s.tables)+i]), t.Width)
		}
		if h.drivers > 0 {
			continue
		}
		t.counts.Rows = int64(total)
		if err := t.results[s.sums&1].memory.ensure(op, h, t.Table, h.maxShare(total)); err != nil {
			return err
		}
	}
	if moved {
		return h.sync(op)
	}
	return nil
}

// maxShare returns the largest number of rows in one worker's range of total rows: an equal
// share, and one more row of each worker with the same id.
func (h *host) maxShare(total int) int { return total/len(h.workers) + len(h.workers) + 1 }

// sumPosted sums the dense elements in the exchange buffers. Each worker sums up to
// smallElements for itself. Of more elements it sums one shard and posts the shard.
func (s *RowSum) sumPosted(h *host, r Reduction) {
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
		sumParts(h.ownBuffer().data[rowReportWords(1)*len(s.tables):][:shard.len()], h.parts, shard.lo, shard.hi)
	}
}

// copyShards copies the shards from all exchange buffers to r.Buf.
func (s *RowSum) copyShards(h *host, r Reduction) {
	n := len(r.Buf)
	if n <= smallElements {
		return
	}
	for local := range h.boards {
		shard := shardSpan(n, len(h.boards), local)
		copy(r.Buf[shard.lo:shard.hi], h.bufferOf(local).data[rowReportWords(1)*len(s.tables):])
	}
}

// mergeRows makes this worker's pieces of the result and posts a report about them.
func (s *RowSum) mergeRows(op *operation, h *host) error {
	if h.drivers > 0 {
		return s.sumDriver(op, h)
	}
	for i := range s.tables {
		t := &s.tables[i]
		ids := rows.Range{
			Lo: rows.Balance(t.sources, t.Rows, h.local, len(h.boards)),
			Hi: rows.Balance(t.sources, t.Rows, h.local+1, len(h.boards)),
		}
		var sum rows.Buffer
		sum.Reset(t.results[s.sums&1].memory.own(h.local))
		if err := s.mergeRange(op, h, i, ids, &sum); err != nil {
			return err
		}
		report := rowReport(h.ownBuffer(), i, 1)
		report[0], report[1] = uint32(sum.Len()), finiteWord(sum.Rows(t.Width))
		report[2], report[3] = 0, uint32(sum.Len())
	}
	return nil
}

// mergeRange appends the sum of all workers' rows in a range of ids to dst. It then checks
// the ids that it has merged.
func (s *RowSum) mergeRange(op *operation, h *host, table int, ids rows.Range, dst *rows.Buffer) error {
	t := &s.tables[table]
	for local, source := range t.sources {
		lo := source.Search(ids.Lo, 0, source.Len())
		hi := source.Search(ids.Hi, lo, source.Len())
		if ids.Hi == uint64(t.Rows) {
			hi = source.Len() // includes ids out of range, which the check below finds
		}
		s.merger.Sources[local] = source.Cut(lo, hi, t.Width)
	}
	dst.AppendSum(&s.merger, t.Width)
	for local, source := range s.merger.Sources {
		at := source.FirstInvalid(t.Rows)
		if at < 0 && source.Len() > 0 && (uint64(source.IDs[0]) < ids.Lo || uint64(source.IDs[source.Len()-1]) >= ids.Hi) {
			at = 0
		}
		if at >= 0 {
			return h.blame(op, local, t.invalidID(table, source, at))
		}
	}
	return nil
}

// readResults reads the reports after the last agreement. If a worker had too little memory for
// its pieces then all workers allocate more, and that worker copies its pieces there.
func (s *RowSum) readResults(op *operation, h *host) error {
	drivers, moved := len(h.workers), false
	if h.drivers > 0 {
		drivers = h.drivers
	}
	parts := s.pieces / drivers
	for i := range s.tables {
		t := &s.tables[i]
		result, need := &t.results[s.sums&1], 0
		for d := range drivers {
			room := rowReport(h.bufferOf(d), i, parts)[0]
			if uint64(room) > t.maxRoom() {
				return h.blame(op, d, fmt.Errorf("%w: table %d: room for %d rows, want at most %d", ErrCorruptFrame, i, room, t.maxRoom()))
			}
			need = max(need, int(room))
		}
		if need > result.memory.capacity {
			if err := result.memory.ensure(op, h, t.Table, need); err != nil {
				return err
			}
			moved = true
			if h.across != nil {
				rows.Copy(result.memory.own(h.local), s.exchange.tables[i].sum.Rows(t.Width))
			}
		}
		t.finite, t.counts.Union = true, 0
		for d := range drivers {
			if err := s.readPieces(op, h, d, i, parts); err != nil {
				return err
			}
		}
	}
	if moved {
		return h.sync(op)
	}
	return nil
}

// maxRoom returns the largest number of rows that a sum may need memory for: those of all
// ranks, or those of the table and of a block that is being added.
func (t *tableSum) maxRoom() uint64 {
	return min(uint64(t.counts.Rows), uint64(t.Rows)+rows.MaxBlockRows)
}

// readPieces finds the pieces of a driver in its memory, as its report tells.
func (s *RowSum) readPieces(op *operation, h *host, driver, table, parts int) error {
	t := &s.tables[table]
	result := &t.results[s.sums&1]
	report := rowReport(h.bufferOf(driver), table, parts)
	t.finite = t.finite && report[1] == 1
	for k := range parts {
		from, n := uint64(report[2+2*k]), uint64(report[3+2*k])
		if from+n > uint64(result.memory.capacity) {
			return h.blame(op, driver, fmt.Errorf("%w: table %d: rows from %d to %d, want at most %d", ErrCorruptFrame, table, from, from+n, result.memory.capacity))
		}
		result.pieces[driver*parts+k] = result.memory.cut(driver, int(from), int(from+n), t.Width)
		t.counts.Union += int(n)
	}
	return nil
}

// rowMemory is memory for rows of a table, with the same capacity for each worker of the
// host.
type rowMemory struct {
	capacity int        // rows
	parts    []rows.Run // by local rank; private memory is one part
}

// own returns this worker's part.
func (m *rowMemory) own(local int) rows.Run {
	switch {
	case m.capacity == 0:
		return rows.Run{}
	case len(m.parts) == 1:
		return m.parts[0]
	default:
		return m.parts[local]
	}
}

// cut returns the rows [lo, hi) of a worker's part.
func (m *rowMemory) cut(local, lo, hi, width int) rows.Run {
	if lo == hi {
		return rows.Run{} // there may be no parts yet
	}
	return m.parts[local].Cut(lo, hi, width)
}

// makePrivate replaces m by private memory.
func (m *rowMemory) makePrivate(capacity, width int) {
	m.capacity, m.parts = capacity, append(m.parts[:0:0], rows.Make(capacity, width))
}

// rowCapacity returns the capacity of memory for n rows of a table: a quarter more, so that
// it seldom grows, up to the rows of the table, in whole cache lines.
func rowCapacity(n int, tableRows uint32) int {
	n = min(n+n/4+lineElements, max(n, int(tableRows)))
	return (n + lineElements - 1) / lineElements * lineElements
}

// ensure allocates shared memory if m has less than n rows for each worker of the host. All
// workers call it with the same n. The old memory stays valid until the group's Close.
func (m *rowMemory) ensure(op *operation, h *host, t Table, n int) error {
	if n <= m.capacity {
		return nil
	}
	capacity := rowCapacity(n, t.Rows)
	arenas, err := h.allocate(op, capacity*(1+t.Width))
	if err != nil {
		return err
	}
	parts := make([]rows.Run, len(arenas))
	for i, arena := range arenas {
		parts[i] = rows.Run{IDs: rows.IDs(arena[:capacity]), Values: arena[capacity:]}
	}
	m.capacity, m.parts = capacity, parts
	return nil
}
