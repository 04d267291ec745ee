package ring

// A merger sums runs of rows into one. Where several runs have an id, their rows are
// added in the order of the runs.
type merger struct {
	sources []rowRun
	at      []int    // of each source: its next row
	head    []uint64 // its id; none: past all ids
	window  *rowWindow
}

const none = 1 << 32

// windowGap is how far ids may be apart, over all runs, so that windows are worth it. A row of
// four runs took, of one core's time, 2.2 ns by windows and 15 by heads where ids were 3 apart,
// 5.7 and 15 at 160, 12.5 and 15 at 1,250, 26 and 15 at 5,000; one of two runs took 2.8 wherever.
const windowGap = 1000

func (m *merger) init(sources int) {
	m.sources, m.at, m.head = make([]rowRun, sources), make([]int, sources), make([]uint64, sources)
	if sources > 2 {
		m.window = new(rowWindow)
		m.window.init()
	}
}

// merge sums m.sources into dst, which has room for all of their rows, and returns the
// number of rows. What it does with ids that do not ascend means nothing, but stays
// within dst; the caller looks for them.
func (m *merger) merge(dst rowRun, width int) int {
	switch len(m.sources) {
	case 1:
		copyRows(dst, m.sources[0])
		return len(m.sources[0].ids)
	case 2:
		return m.mergeTwo(dst, width)
	}
	total, lowest, highest := 0, uint64(none), uint64(0)
	for i, s := range m.sources {
		m.goTo(i, 0)
		if n := len(s.ids); n > 0 {
			total += n
			lowest, highest = min(lowest, m.head[i]), max(highest, uint64(s.ids[n-1]))
		}
	}
	if width == 1 && total > 0 && highest-lowest <= uint64(total)*windowGap {
		return m.mergeWindows(dst)
	}
	return m.mergeHeads(dst, width)
}

// goTo has a source go on to its row at.
func (m *merger) goTo(i, at int) {
	m.at[i], m.head[i] = at, none
	if ids := m.sources[i].ids; at < len(ids) {
		m.head[i] = uint64(ids[at])
	}
}

// lowest is the lowest id that some source has next.
func (m *merger) lowest() uint64 {
	id := uint64(none)
	for _, head := range m.head {
		id = min(id, head)
	}
	return id
}

// mergeTwo is merge for two sources.
func (m *merger) mergeTwo(dst rowRun, width int) int {
	a, b := m.sources[0], m.sources[1]
	i, j, n := mergePair(dst, a, b, width)
	rest := b.cut(j, len(b.ids), width)
	if i < len(a.ids) {
		rest = a.cut(i, len(a.ids), width)
	}
	copyRows(dst.cut(n, n+len(rest.ids), width), rest)
	return n + len(rest.ids)
}

// mergeHeads is merge for any sources, a row at a time.
func (m *merger) mergeHeads(dst rowRun, width int) (n int) {
	for id := m.lowest(); id != none; id = m.lowest() {
		row, first := dst.values[n*width:(n+1)*width], true
		for i, head := range m.head {
			if head != id {
				continue
			}
			at := m.at[i]
			if from := m.sources[i].values[at*width : (at+1)*width]; first {
				copy(row, from)
			} else {
				addRows(row, row, from)
			}
			first = false
			m.goTo(i, at+1)
		}
		dst.ids[n] = uint32(id)
		n++
	}
	return n
}

// A rowRange is the ids [lo, hi).
type rowRange struct{ lo, hi uint64 }

// balanced returns the bound of ids below which lie about i of n equal shares of all
// rows of parts. It depends on nothing but the ids.
func balanced(parts []rowRun, rows uint32, i, n int) uint64 {
	total := 0
	for _, p := range parts {
		total += len(p.ids)
	}
	switch i {
	case 0:
		return 0
	case n:
		return uint64(rows)
	}
	want := total * i / n
	lo, hi := uint64(0), uint64(rows) // at lo are at most as many as are wanted
	for lo+1 < hi {
		middle := (lo + hi) / 2
		below := 0
		for _, p := range parts {
			below += p.from(middle, 0, len(p.ids))
		}
		if below <= want {
			lo = middle
		} else {
			hi = middle
		}
	}
	return lo
}
