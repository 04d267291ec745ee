package ring

import "ringtrain/ring/internal/vec"

// A merger sums runs of rows into one. Where several runs have an id, their rows are
// added in the order of the runs.
type merger struct {
	sources []rowRun
	at      []int    // of each source: its next row
	head    []uint64 // its id; none: past all ids
}

const none = 1 << 32

func (m *merger) init(sources int) {
	m.sources, m.at, m.head = make([]rowRun, sources), make([]int, sources), make([]uint64, sources)
}

// merge sums m.sources into dst, which has room for all of their rows, and returns the
// number of rows. What it does with ids that do not ascend means nothing, but stays
// within dst; the caller looks for them.
func (m *merger) merge(dst rowRun, width int) int {
	for i, s := range m.sources {
		m.at[i], m.head[i] = 0, none
		if len(s.ids) > 0 {
			m.head[i] = uint64(s.ids[0])
		}
	}
	n := 0
	for {
		id := uint64(none)
		for _, head := range m.head {
			id = min(id, head)
		}
		if id == none {
			return n
		}
		m.take(id, dst.values[n*width:(n+1)*width])
		dst.ids[n] = uint32(id)
		n++
	}
}

// take sums the rows of all sources that have id next, and goes on to their next rows.
func (m *merger) take(id uint64, row []float32) {
	first, width := true, len(row)
	for i, head := range m.head {
		if head != id {
			continue
		}
		s, at := &m.sources[i], m.at[i]
		from := s.values[at*width : (at+1)*width]
		switch {
		case first:
			copy(row, from)
		case width < 8:
			for k, v := range from {
				row[k] += v
			}
		default:
			vec.Add(row, from)
		}
		first = false
		at++
		m.at[i], m.head[i] = at, none
		if at < len(s.ids) {
			m.head[i] = uint64(s.ids[at])
		}
	}
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
