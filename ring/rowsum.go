package ring

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/internal/rows"
	"ringtrain/ring/internal/vec"
)

// Table is the shape of a table whose rows a RowSum sums. Variables with equal ids are one
// table.
type Table struct {
	Rows  uint32 // ids are below Rows
	Width int    // float32 values of a row, 1 or more
}

const (
	// MaxTables bounds the tables of a RowSum.
	MaxTables = 1024

	// maxRowWidth keeps a row within a frame of any Config.
	maxRowWidth = 1 << 16
)

// RowSum sums rows of tables over all ranks. One operation per step also sums a small dense
// buffer and gathers the tails of all ranks:
//
//	ids, values := s.Input(table, n)   // of each table: fill in this rank's rows
//	err := g.SumRows(ctx, s, dense, tails)
//	for piece := range s.Pieces() {
//		ids, values := s.Result(table, piece)
//	}
//
// The result has the union of all ranks' ids and, for each id, the sum of its rows. All
// ranks hold equal bits. The order of summation depends only on the layout of hosts and the
// order of the ring: it depends neither on the ids nor on the order of arrival.
//
// On one host each worker merges a range of the ids in shared memory, where the others read
// the result. Input gives out that memory. Between hosts the drivers of each range exchange
// the rows of their hosts; see PROTOCOL.md. The cost is that of the rows, not that of
// Table.Rows, except for a table that goes ByDense.
//
// Only the goroutine that runs the group's operations may use a RowSum.
type RowSum struct {
	ranks  int  // of the group
	local  int  // this worker's number on its host
	shared bool // the input lies in memory that the host's workers share
	tables []tableSum
	hash   uint32 // of the tables; equal on all ranks
	sums   int    // completed sums
	pieces int

	merger   rows.Merger
	posted   []uint32    // row counts by local rank and table, as read from the exchange buffers
	exchange rowExchange // over links; a worker that is no driver has no wire in it
	bucket   []float32   // dense elements and row counts of an all-reduce
	dense    rowDense
}

// tableSum is the state of one table of a RowSum.
type tableSum struct {
	Table
	input   rows.Run     // rows that Input gave out since the last Sum
	memory  rowMemory    // of the input
	results [2]rowResult // of the last two sums, in turn
	sources []rows.Run   // by local rank: rows of the running sum
	merged  rows.Buffer  // the host's rows of a driver's share
	split   rows.Split   // of the ids: among the drivers, then among the hosts
	counts  RowCounts    // of the last sum
	way     RowWay       // of the last sum, between hosts
	finite  bool         // whether the last sum is
}

// rowResult is the result of a sum of one table.
type rowResult struct {
	memory rowMemory // of the pieces
	pieces []rows.Run
}

// NewRowSum returns a sum of rows. All ranks call it, with the same tables, in the same
// order among the operations. The memory belongs to the group and is valid until the
// group's Close: copy a result that must live longer.
//
// Tables that are out of range are an error with exitcode.Usage. Tables that differ among
// ranks are ErrRanksDiffer: at once if the ranks share memory, otherwise at the first Sum.
func (g *Group) NewRowSum(ctx context.Context, tables []Table) (s *RowSum, err error) {
	if err := checkTables(tables); err != nil {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("ring: %w", err))
	}
	if err := g.begin(ctx, opRows, 0); err != nil {
		return nil, err
	}
	defer g.finish(&err)
	tables = slices.Clone(tables)
	s = &RowSum{ranks: g.members.Size(), hash: hashTables(tables), tables: make([]tableSum, len(tables))}
	locals, corners := 1, 1
	switch {
	case g.members.Size() == 1:
		s.pieces = 1
	case g.host == nil:
		s.exchange.init(g.wire, tables)
		s.pieces, corners = g.wire.rowParts(), g.wire.rowCorners()
	default:
		s.local, s.shared, locals = g.host.local, true, len(g.host.workers)
		if s.pieces, corners, err = g.host.openRows(&g.op, s, tables); err != nil {
			return nil, err
		}
	}
	for i := range s.tables {
		t := &s.tables[i]
		t.Table, t.finite, t.sources, t.split = tables[i], true, make([]rows.Run, locals), make(rows.Split, corners+1)
		for k := range t.results {
			t.results[k].pieces = make([]rows.Run, s.pieces)
		}
	}
	s.merger.Init(locals)
	s.posted = make([]uint32, locals*len(tables))
	return s, nil
}

// checkTables returns an error that names each table that is out of range.
func checkTables(tables []Table) error {
	if len(tables) > MaxTables {
		return fmt.Errorf("%d tables, want at most %d", len(tables), MaxTables)
	}
	var errs []error
	for i, t := range tables {
		if t.Rows == 0 || t.Rows > 1<<31 || t.Width < 1 || t.Width > maxRowWidth {
			errs = append(errs, fmt.Errorf("table %d has %d rows of %d elements, want 1 to %d rows of 1 to %d", i, t.Rows, t.Width, uint32(1<<31), maxRowWidth))
		}
	}
	return errors.Join(errs...)
}

// hashTables returns a checksum of the tables, which the ranks compare.
func hashTables(tables []Table) uint32 {
	var text []byte
	for _, t := range tables {
		text = fmt.Appendf(text, "%d %d,", t.Rows, t.Width)
	}
	return crc32.Checksum(text, castagnoli)
}

// terms returns the terms of the running operation. Its root is the hash of the tables.
func (s *RowSum) terms(op *operation, dense int) terms {
	n := op.terms()
	n.length, n.root = uint64(dense), s.hash
	return n
}

// Input returns memory for this rank's n rows of a table: n ids and n × Width values, row
// after row. The contents are unspecified. The caller fills in ascending ids below
// Table.Rows and their values, and owns both until Sum. A second call before Sum replaces
// the first. A table without a call has no rows.
//
// The memory is shared with the other workers of the host if that has room. Otherwise it is
// private, and the next Sum allocates more shared memory on all ranks.
func (s *RowSum) Input(table, n int) (ids []uint32, values []float32) {
	t := &s.tables[table]
	if n < 0 || uint64(n) > uint64(t.Rows) {
		panic("ring: rows of a table are more than it has")
	}
	if n > t.memory.capacity && !s.shared {
		t.memory.makePrivate(rowCapacity(n, t.Rows), t.Width)
	}
	if n <= t.memory.capacity {
		t.input = t.memory.own(s.local).Cut(0, n, t.Width)
	} else {
		t.input = rows.Make(n, t.Width)
	}
	return t.input.IDs, t.input.Values
}

// Finite reports whether the rows of the last Input hold neither a NaN nor an infinity. The
// caller asks before Sum and tells the other ranks in its tail.
func (s *RowSum) Finite(table int) bool { return vec.Finite(s.tables[table].input.Values) }

// Pieces returns the number of pieces of each result. It never changes.
func (s *RowSum) Pieces() int { return s.pieces }

// Result returns a piece of a table's sum: ascending distinct ids and Width values for each.
// Ids also ascend from piece to piece. A piece may be empty. The caller must not write to
// it.
//
// The piece is valid until the Sum after the next one. It stays valid until the group's
// Close if the next Sum fails: a rank may then hand it to a rank that is one step behind.
func (s *RowSum) Result(table, piece int) (ids []uint32, values []float32) {
	if s.sums == 0 {
		return nil, nil
	}
	r := s.tables[table].results[(s.sums-1)&1].pieces[piece]
	return r.IDs, r.Values
}

// RowCounts is the number of rows of a table in a sum. All ranks have the same.
type RowCounts struct {
	Rows  int64 // over all ranks; an id counts on each rank that has it
	Union int   // distinct ids
}

// Counts returns the row counts of the last sum.
func (s *RowSum) Counts(table int) RowCounts { return s.tables[table].counts }

// Way returns how the last sum of a table went between hosts. All ranks have the same,
// because it follows from Counts(table).Rows: see [WayOfRows]. On one host it is ByRows.
func (s *RowSum) Way(table int) RowWay { return s.tables[table].way }

// NonFinite returns 1 + the number of the first table whose sum holds a NaN or an infinity,
// or 0. All ranks have the same. If every rank's input was finite then the sum overflowed.
func (s *RowSum) NonFinite() int {
	for i := range s.tables {
		if !s.tables[i].finite {
			return i + 1
		}
	}
	return 0
}

// SumRows sums the input of all ranks in s, which the group has made. It replaces dense by its sum
// over all ranks and fills in the tails of all ranks, as [Reduction.Tails] describes. dense has the
// same length on all ranks; dense and tails may be nil. SumRows allocates only if the rows are more
// than ever before.
//
// SumRows fails as AllReduce does. ErrCorruptFrame names a rank whose ids do not ascend or are
// not below Table.Rows. After an error the result of the previous sum is still valid.
func (g *Group) SumRows(ctx context.Context, s *RowSum, dense []float32, tails []byte) (err error) {
	if tails != nil && len(tails) != g.members.Size()*TailBytes {
		panic("ring: tails are not of size times TailBytes")
	}
	if err := g.begin(ctx, opRows, len(dense)); err != nil {
		return err
	}
	defer g.finish(&err)
	if err := s.checkInput(&g.op); err != nil {
		return err
	}
	switch r := (Reduction{Buf: dense, Tails: tails}); {
	case g.members.Size() == 1:
		s.sumAlone()
	case g.host == nil:
		err = s.sumFlat(&g.op, g.wire, r)
	default:
		err = g.host.sumRows(&g.op, s, r)
	}
	if err != nil {
		return err
	}
	for i := range s.tables {
		s.tables[i].input = rows.Run{}
	}
	s.sums++
	return nil
}

// checkInput returns an error if the ids of this rank do not ascend.
func (s *RowSum) checkInput(op *operation) error {
	for i := range s.tables {
		t := &s.tables[i]
		if at := t.input.FirstInvalid(t.Rows); at >= 0 {
			return fmt.Errorf("ring: rows %d: %w", op.seq, withCode(t.invalidID(i, t.input, at)))
		}
	}
	return nil
}

// sumAlone makes the input the result, for a job of one rank. Three memories take turns as
// the input and the last two results.
func (s *RowSum) sumAlone() {
	for i := range s.tables {
		t := &s.tables[i]
		r := &t.results[s.sums&1]
		t.memory, r.memory = r.memory, t.memory
		r.pieces[0] = t.input
		n := t.input.Len()
		t.counts, t.finite = RowCounts{int64(n), n}, vec.Finite(t.input.Values)
	}
}

// invalidID returns the error for the id at index at of a rank's rows.
func (t *tableSum) invalidID(table int, r rows.Run, at int) error {
	id := r.IDs[at]
	if id >= t.Rows {
		return fmt.Errorf("%w: table %d: id %d is %d, want less than %d", ErrCorruptFrame, table, at, id, t.Rows)
	}
	return fmt.Errorf("%w: table %d: id %d is %d, want more than the one before", ErrCorruptFrame, table, at, id)
}

// RowWay is how the sum of a table goes between workers that share no memory.
type RowWay uint8

const (
	ByRows  RowWay = iota // ids and their values
	ByDense               // the whole table, by all-reduce, with one bit for each row
)

// String returns "rows" or "dense".
func (w RowWay) String() string {
	if w == ByDense {
		return "dense"
	}
	return "rows"
}

// denseFactor times the rows of a table is the number of rows over all ranks from which on
// the table goes ByDense. From there on the exchange of ids hardly saves bytes, and the merge
// of wide rows costs more time than the all-reduce. See BenchmarkRowSum.
const denseFactor = 2

// WayOfRows returns how a table goes if all ranks together have this number of rows, where an
// id counts on each rank that has it. The result depends on nothing else: all ranks agree, and
// a resumed run goes the same way as the run before.
func WayOfRows(t Table, rows int64) RowWay {
	if rows >= denseFactor*int64(t.Rows) {
		return ByDense
	}
	return ByRows
}
