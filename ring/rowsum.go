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

// A Table is what a RowSum sums rows of. Variables with equal ids are one table.
type Table struct {
	Rows  uint32 // ids are below
	Width int    // float32 of a row, 1 or more
}

const (
	// MaxTables bounds the tables of a RowSum.
	MaxTables = 1024

	// maxRowWidth keeps a row within a frame of any Config.
	maxRowWidth = 1 << 16
)

// A RowSum sums rows of tables over all ranks, with a small dense bucket and all
// ranks' tails, in one operation a step:
//
//	ids, values := s.Mine(table, n)   // of each table: fill in this rank's rows
//	err := s.Sum(ctx, dense, tails)
//	for piece := range s.Pieces() {
//		ids, values := s.Result(table, piece)
//	}
//
// The result is the union of all ranks' ids, with the sum of each id's rows. All
// ranks hold equal bits. Ranks are added in a fixed order, which depends on the
// layout of hosts and the order of the ring only: neither on which ids there are nor
// on what arrives first.
//
// On one host each worker merges a range of ids in shared memory, where the others
// read it: Mine gives out that memory. Between hosts the drivers of each range
// exchange their host's rows; see PROTOCOL.md. Nothing is proportional to Table.Rows,
// apart from what goes ByDense.
//
// A RowSum is used by the goroutine that runs the group's operations.
type RowSum struct {
	g      *Group
	tables []tableSum
	hash   uint32 // of the tables, which all ranks have alike
	sums   int    // completed so far
	pieces int

	merger rows.Merger
	said   []uint32    // counts of the workers of the host, as read from their pages
	x      rowExchange // over links, of those that have some
	bucket []float32   // dense elements and counts, on their way
	dense  rowDense
}

// A tableSum is what a RowSum has of one table.
type tableSum struct {
	Table
	mine   rows.Run    // what Mine gave since the last Sum
	stand  rowStand    // where Mine's rows lie
	result [2]rowSet   // of the last two sums, in turn
	parts  []rows.Run  // the running sum's, by local rank
	merged rows.Buffer // a driver's share of the host's rows
	split  rows.Split  // of the ids, for all drivers and then for those of all hosts
	counts RowCounts   // of the last sum
	way    RowWay      // that it went between hosts
	finite bool        // it is
}

// A rowSet is the result of a sum.
type rowSet struct {
	stand  rowStand // where pieces lie
	pieces []rows.Run
}

// NewRowSum makes a sum of rows. All ranks call it, with the same tables, in the
// same order among the operations. Its memory is the group's: it is valid until the
// group's Close, so whoever must hand a result on copies it before.
//
// Tables that cannot be are exitcode.Usage; tables that differ are ErrRanksDiffer
// where ranks share memory, and at the first Sum where they do not.
func (g *Group) NewRowSum(ctx context.Context, tables []Table) (*RowSum, error) {
	if err := checkTables(tables); err != nil {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("ring: %w", err))
	}
	if err := g.begin(ctx, opRows, 0); err != nil {
		return nil, err
	}
	defer g.finish()
	tables = slices.Clone(tables)
	s := &RowSum{g: g, hash: hashTables(tables), tables: make([]tableSum, len(tables))}
	locals, corners := 1, 1
	var err error
	switch {
	case g.members.Size() == 1:
		s.pieces = 1
	case g.host == nil:
		s.x.init(g.wire, tables)
		s.pieces, corners = g.wire.rowParts(), g.wire.rowCorners()
	default:
		locals = len(g.host.workers)
		s.pieces, corners, err = g.host.openRows(s, tables)
	}
	for i := range s.tables {
		t := &s.tables[i]
		t.Table, t.finite, t.parts, t.split = tables[i], true, make([]rows.Run, locals), make(rows.Split, corners+1)
		for k := range t.result {
			t.result[k].pieces = make([]rows.Run, s.pieces)
		}
	}
	s.merger.Init(locals)
	s.said = make([]uint32, locals*len(tables))
	return s, err
}

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

func hashTables(tables []Table) uint32 {
	var text []byte
	for _, t := range tables {
		text = fmt.Appendf(text, "%d %d,", t.Rows, t.Width)
	}
	return crc32.Checksum(text, castagnoli)
}

// notice is that of the running operation. Its root is the tables.
func (s *RowSum) notice(dense int) notice {
	n := s.g.notice()
	n.length, n.root = uint64(dense), s.hash
	return n
}

// Mine returns memory for this rank's n rows of a table: n ids, to be filled with
// ascending numbers below Table.Rows, and n × Width values, row after row. Both hold
// anything before. They are the caller's until Sum; a second call before that replaces
// the first. A table without a call has no rows.
//
// The memory is shared with the host's other workers, or private if there is not
// enough of it: the next Sum then makes more on all ranks.
func (s *RowSum) Mine(table, n int) (ids []uint32, values []float32) {
	t := &s.tables[table]
	if n < 0 || uint64(n) > uint64(t.Rows) {
		panic("ring: rows of a table are more than it has")
	}
	if n > t.stand.capacity && !s.shares() {
		t.stand.make(roomier(n, t.Rows), t.Width)
	}
	if n <= t.stand.capacity {
		t.mine = t.stand.own(s.g).Cut(0, n, t.Width)
	} else {
		t.mine = rows.Make(n, t.Width)
	}
	return t.mine.IDs, t.mine.Values
}

// shares tells whether rows lie in the memory of a host.
func (s *RowSum) shares() bool { return s.g.host != nil && s.g.members.Size() > 1 }

// Finite tells whether what Mine gave last holds neither a NaN nor an infinity. The
// caller asks before Sum, to tell the other ranks by its tail.
func (s *RowSum) Finite(table int) bool { return vec.Finite(s.tables[table].mine.Values) }

// Pieces returns the number of pieces of each result. It does not change.
func (s *RowSum) Pieces() int { return s.pieces }

// Result returns a piece of a table's sum: ascending distinct ids, and Width values
// of each. Ids ascend from piece to piece, too; a piece may be empty. The caller must
// not write to it. It is valid until the Sum after the next, and also if the next one
// fails, until the group's Close: so a rank that is one step behind can be handed it.
func (s *RowSum) Result(table, piece int) (ids []uint32, values []float32) {
	return s.resultOf(s.sums-1, table, piece)
}

// Before returns a piece of the sum before the last one. It is valid until the next Sum.
func (s *RowSum) Before(table, piece int) (ids []uint32, values []float32) {
	return s.resultOf(s.sums-2, table, piece)
}

func (s *RowSum) resultOf(sum, table, piece int) ([]uint32, []float32) {
	if sum < 0 {
		return nil, nil
	}
	r := s.tables[table].result[sum&1].pieces[piece]
	return r.IDs, r.Values
}

// RowCounts are how many rows of a table a sum had. All ranks have the same.
type RowCounts struct {
	Rows  int64 // over all ranks, an id counted on each that has it
	Union int   // distinct ids
}

// Counts returns those of the last sum.
func (s *RowSum) Counts(table int) RowCounts { return s.tables[table].counts }

// Way returns how the last sum of a table went between workers that share no memory.
// All ranks have the same: it follows from Counts(table).Rows, see [WayOfRows]. On one
// host it is ByRows.
func (s *RowSum) Way(table int) RowWay { return s.tables[table].way }

// NonFinite returns 1 + the first table whose sum holds a NaN or an infinity, 0 if
// there is none. It is the same on all ranks. Where no rank's own rows did, the sum was too large.
func (s *RowSum) NonFinite() int {
	for i := range s.tables {
		if !s.tables[i].finite {
			return i + 1
		}
	}
	return 0
}

// Sum sums what Mine gave on all ranks, replaces dense by its sum, and fills in all
// ranks' tails as [Reduction.Tails] says. dense has the same length on all ranks and
// may be nil, and so may tails. It allocates nothing unless rows become more than ever
// before.
//
// It fails as AllReduce does, and blames a rank whose ids do not ascend or are no row
// of the table (ErrCorruptFrame). After an error the result of the sum before stands.
func (s *RowSum) Sum(ctx context.Context, dense []float32, tails []byte) error {
	if tails != nil && len(tails) != s.g.members.Size()*TailBytes {
		panic("ring: tails are not of size times TailBytes")
	}
	if err := s.sum(ctx, dense, tails); err != nil {
		return err
	}
	for i := range s.tables {
		s.tables[i].mine = rows.Run{}
	}
	s.sums++
	return nil
}

func (s *RowSum) sum(ctx context.Context, dense []float32, tails []byte) error {
	if err := s.checkMine(ctx); err != nil {
		return err
	}
	switch {
	case s.g.members.Size() == 1:
		return s.sumAlone(ctx)
	case s.g.host == nil:
		return s.sumFlat(ctx, dense, tails)
	}
	if err := s.g.begin(ctx, opRows, len(dense)); err != nil {
		return err
	}
	defer s.g.finish()
	return s.g.host.sumRows(s, Reduction{Buf: dense, Tails: tails})
}

// checkMine fails for all ranks if the ids of this one do not ascend.
func (s *RowSum) checkMine(ctx context.Context) error {
	for i := range s.tables {
		t := &s.tables[i]
		if at := t.mine.FirstInvalid(t.Rows); at >= 0 {
			if err := s.g.begin(ctx, opRows, 0); err != nil {
				return err
			}
			defer s.g.finish()
			return s.g.end(fmt.Errorf("ring: rows %d: %w", s.g.op.seq, withCode(t.wrongID(i, t.mine, at))))
		}
	}
	return nil
}

// sumAlone has what Mine gave become the result. Three memories take turns as that
// and the last two results.
func (s *RowSum) sumAlone(ctx context.Context) error {
	if err := s.g.begin(ctx, opRows, 0); err != nil {
		return err
	}
	defer s.g.finish()
	for i := range s.tables {
		t := &s.tables[i]
		r := &t.result[s.sums&1]
		t.stand, r.stand = r.stand, t.stand
		r.pieces[0] = t.mine
		n := len(t.mine.IDs)
		t.counts, t.finite = RowCounts{int64(n), n}, vec.Finite(t.mine.Values)
	}
	return nil
}

// wrongID says what is wrong with an id of a rank's rows.
func (t *tableSum) wrongID(table int, r rows.Run, at int) error {
	id := r.IDs[at]
	if id >= t.Rows {
		return fmt.Errorf("%w: table %d: id %d is %d, want less than %d", ErrCorruptFrame, table, at, id, t.Rows)
	}
	return fmt.Errorf("%w: table %d: id %d is %d, want more than the one before", ErrCorruptFrame, table, at, id)
}

// A RowWay is how a table's sum goes between workers that share no memory.
type RowWay uint8

// The ways.
const (
	ByRows  RowWay = iota // ids and their values
	ByDense               // the whole table, by all-reduce, with a bit for each row
)

func (w RowWay) String() string {
	if w == ByDense {
		return "dense"
	}
	return "rows"
}

// denseFrom is how many times its rows a table must be met with, over all ranks, to go
// densely. Of a table of 200,000 rows, what a sum by rows took beside a dense one, in bytes and
// (over links in memory, on two busy cores) in time:
//
//	rows over all ranks     2 workers, width 1   width 9      4 workers, width 1   width 9
//	1/4 of the table's      0.14   0.57          0.12  0.52   0.18   0.62          0.15  0.20
//	1/2                     0.27   0.73          0.23  0.83   0.32   0.85          0.28  0.32
//	1                       0.61   0.82          0.51  1.74   0.54   0.99          0.46  0.82
//	2                       0.97   0.73          1.00  2.59   0.90   0.91          0.78  1.50
//	4                                                         0.94   0.71          0.99  0.71
//
// So at 2 a wire gains little by rows any more, and the cores that merge wide rows lose.
const denseFrom = 2

// WayOfRows returns how a table goes that all ranks together have so many rows of, an id
// counted on each that has it. It depends on nothing else, so all ranks agree, and a run
// that is resumed goes as the one that was not.
func WayOfRows(t Table, rows int64) RowWay {
	if rows >= denseFrom*int64(t.Rows) {
		return ByDense
	}
	return ByRows
}
