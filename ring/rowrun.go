package ring

import (
	"context"
	"slices"
	"sort"
	"unsafe"
)

// A rowRun is rows by ascending distinct ids. It may lie in shared memory, where a
// worker gone wild may change it at any time: who reads an id or a length twice gets
// two answers.
type rowRun struct {
	ids    []uint32
	values []float32 // len(ids) × width
}

func newRowRun(n, width int) rowRun { return rowRun{make([]uint32, n), make([]float32, n*width)} }

// cut returns the rows [lo, hi).
func (r rowRun) cut(lo, hi, width int) rowRun {
	return rowRun{r.ids[lo:hi:hi], r.values[lo*width : hi*width : hi*width]}
}

// from returns the place of the first row, from lo on and below hi, whose id is not
// below id; hi if there is none.
func (r rowRun) from(id uint64, lo, hi int) int {
	return lo + sort.Search(hi-lo, func(i int) bool { return uint64(r.ids[lo+i]) >= id })
}

// within returns the rows of a range of ids.
func (r rowRun) within(ids rowRange, width int) rowRun {
	lo := r.from(ids.lo, 0, len(r.ids))
	return r.cut(lo, r.from(ids.hi, lo, len(r.ids)), width)
}

// disorder returns the place of the first id that is not above the one before, or not
// below rows; -1 if there is none.
func (r rowRun) disorder(rows uint32) int {
	if len(r.ids) == 0 {
		return -1
	}
	before := int64(-1)
	for i, id := range r.ids {
		if int64(id) <= before || id >= rows {
			return i
		}
		before = int64(id)
	}
	return -1
}

// fit makes r n rows long, which hold anything.
func (r *rowRun) fit(n, width int) {
	r.ids, r.values = growIDs(r.ids, n), growFloats(r.values, n*width)
}

// growIDs is grow for ids.
func growIDs(x []uint32, n int) []uint32 { return slices.Grow(x[:0], n)[:n] }

// copyRows copies src into the first rows of dst, which has room for it.
func copyRows(dst, src rowRun) {
	copy(dst.ids, src.ids)
	copy(dst.values, src.values)
}

// A rowSink is rows that are being appended: to given memory while that has room, then
// to private memory.
type rowSink struct {
	room  rowRun
	n     int
	moved bool // room is not what was given
}

// give empties k and has it append to room.
func (k *rowSink) give(room rowRun) { *k = rowSink{room: room} }

// more makes room for n more rows.
func (k *rowSink) more(n, width int) {
	if k.n+n <= len(k.room.ids) {
		return
	}
	larger := newRowRun(2*(k.n+n), width)
	copyRows(larger, k.rows(width))
	k.room, k.moved = larger, true
}

// rows are those that were appended.
func (k *rowSink) rows(width int) rowRun { return k.room.cut(0, k.n, width) }

// append appends rows.
func (k *rowSink) append(r rowRun, width int) {
	k.more(len(r.ids), width)
	copyRows(k.room.cut(k.n, k.n+len(r.ids), width), r)
	k.n += len(r.ids)
}

// A rowStand is memory for rows of a table, as much for each worker of the host.
type rowStand struct {
	capacity int      // rows
	parts    []rowRun // by local rank, of capacity rows
}

// own is this worker's part.
func (st *rowStand) own(g *Group) rowRun {
	switch {
	case st.capacity == 0:
		return rowRun{}
	case len(st.parts) == 1:
		return st.parts[0]
	default:
		return st.parts[g.host.local]
	}
}

// rows are the rows [lo, hi) of a worker's part.
func (st *rowStand) rows(local, lo, hi, width int) rowRun {
	if lo == hi {
		return rowRun{} // there may be no parts yet
	}
	return st.parts[local].cut(lo, hi, width)
}

// make makes private memory.
func (st *rowStand) make(capacity, width int) {
	st.capacity, st.parts = capacity, append(st.parts[:0:0], newRowRun(capacity, width))
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
	parts := make([]rowRun, len(memory))
	for i, part := range memory {
		parts[i] = rowRun{idsIn(part[:capacity]), part[capacity:]}
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

// idsIn views memory of elements as ids.
func idsIn(x []float32) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}
