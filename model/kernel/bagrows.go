package kernel

// rowsAhead is how many ids ahead gatherRows fetches rows into the cache.
const rowsAhead = 16

// gatherTask is the task of GatherRows.
type gatherTask struct {
	set   Set
	dst   []float32
	table Table
	ids   []uint32
}

// GatherRows copies the rows of ascending ids to dst [len(ids), width]. It prefetches
// rows, because the table may be larger than any cache.
func (e *Engine) GatherRows(dst []float32, table Table, ids []uint32) {
	n := len(ids)
	if len(dst) != n*table.Width {
		panic("kernel: GatherRows: length does not match shape")
	}
	if n > 0 && int(ids[n-1])*table.Stride+table.Width > len(table.Data) {
		panic("kernel: GatherRows: id is out of range")
	}
	e.gatherTask = gatherTask{e.set, dst, table, ids}
	e.Run(n, 1+elementGrain/max(1, table.Width), &e.gatherTask)
	e.gatherTask = gatherTask{}
}

// Span copies the rows of ids lo to hi.
func (t *gatherTask) Span(lo, hi, _ int) {
	w := t.table.Width
	if t.set.gatherRows(t.dst[lo*w:hi*w], t.table, t.ids[lo:hi], hi-lo) {
		return
	}
	data, stride := t.table.Data, t.table.Stride
	if w == 1 {
		dst := t.dst[lo:hi]
		for i, id := range t.ids[lo:hi] {
			dst[i] = data[int(id)*stride]
		}
		return
	}
	for i := lo; i < hi; i++ {
		copy(t.dst[i*w:(i+1)*w], t.table.row(t.ids[i]))
	}
}
