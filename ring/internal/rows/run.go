// Package rows holds the data of a sum of rows: runs of rows by id, their merge, their
// encoding in blocks, and their division among workers. It knows no group and no link;
// ring.RowSum moves the rows between workers.
//
// A row is an id and width float32 values. A [Run] lists rows by ascending distinct ids:
//
//	IDs       2       5       9         three rows of width 2
//	Values    a  b    c  d    e  f
//
// A [Merger] adds several runs into one. A [Join] does so for one run that is there and
// one that arrives in pieces. A [Writer] encodes runs as blocks for the wire, and a
// [Reader] decodes them. [Dense] lays the rows of a range out without gaps.
//
// # Invariants
//
//   - A merge adds the rows of one id in the order of its sources, whatever the ids. A sum
//     therefore has the same bits on every worker that merges the same sources in the same
//     order.
//   - Runs may lie in shared memory, where a faulty process may write at any time. No
//     function writes outside of its destination, or runs for ever, because ids do not
//     ascend or change while it reads them.
//   - Nothing here allocates once buffers have grown to the size of the job.
package rows

import (
	"sort"
	"unsafe"

	"ringtrain/ring/internal/vec"
)

// Run is rows of one table by ascending distinct ids. It may lie in shared memory. A reader
// must read each id and length once: a second read may differ.
type Run struct {
	IDs    []uint32
	Values []float32 // width of each id
}

// Make returns a run of n rows in private memory.
func Make(n, width int) Run { return Run{make([]uint32, n), make([]float32, n*width)} }

// Len returns the number of rows.
func (r Run) Len() int { return len(r.IDs) }

// Cut returns the rows [lo, hi).
func (r Run) Cut(lo, hi, width int) Run {
	return Run{r.IDs[lo:hi:hi], r.Values[lo*width : hi*width : hi*width]}
}

// Search returns the index in [lo, hi) of the first row whose id is at least id, or hi.
func (r Run) Search(id uint64, lo, hi int) int {
	return lo + sort.Search(hi-lo, func(i int) bool { return uint64(r.IDs[lo+i]) >= id })
}

// Within returns the rows of a range of ids.
func (r Run) Within(ids Range, width int) Run {
	lo := r.Search(ids.Lo, 0, len(r.IDs))
	return r.Cut(lo, r.Search(ids.Hi, lo, len(r.IDs)), width)
}

// FirstInvalid returns the index of the first id that is not above the id before it or is
// not below rows, or -1.
func (r Run) FirstInvalid(rows uint32) int {
	if len(r.IDs) == 0 {
		return -1
	}
	before := int64(-1)
	for i, id := range r.IDs {
		if int64(id) <= before || id >= rows {
			return i
		}
		before = int64(id)
	}
	return -1
}

// resize sets the length of r to n rows of unspecified contents.
func (r *Run) resize(n, width int) {
	r.IDs, r.Values = vec.Resize(r.IDs, n), vec.Resize(r.Values, n*width)
}

// Copy copies src to the first rows of dst.
func Copy(dst, src Run) {
	copy(dst.IDs, src.IDs)
	copy(dst.Values, src.Values)
}

// IDs views memory of float32 as ids.
func IDs(x []float32) []uint32 {
	return unsafe.Slice((*uint32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// Range is the ids [Lo, Hi).
type Range struct{ Lo, Hi uint64 }

// Balance returns the id below which lie about i of n equal shares of the rows of parts.
// rows is the number of rows of the table. The result depends only on the ids.
func Balance(parts []Run, rows uint32, i, n int) uint64 {
	total := 0
	for _, p := range parts {
		total += len(p.IDs)
	}
	switch i {
	case 0:
		return 0
	case n:
		return uint64(rows)
	}
	want := total * i / n
	lo, hi := uint64(0), uint64(rows) // at most want rows lie below lo
	for lo+1 < hi {
		middle := (lo + hi) / 2
		below := 0
		for _, p := range parts {
			below += p.Search(middle, 0, len(p.IDs))
		}
		if below <= want {
			lo = middle
		} else {
			hi = middle
		}
	}
	return lo
}
