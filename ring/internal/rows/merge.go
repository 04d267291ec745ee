package rows

import (
	"math"

	"ringtrain/ring/internal/vec"
)

// Merger adds several runs into one. It adds the rows of one id in the order of Sources.
type Merger struct {
	Sources []Run    // set by the caller
	next    []int    // by source: index of its next row
	head    []uint64 // by source: id of its next row, or noID
	window  *window  // nil for two sources or fewer
}

// noID is above all ids.
const noID = 1 << 32

// windowGap bounds the mean distance of ids, over all sources, up to which a merge by windows
// is faster than a merge by heads. See BenchmarkMerge.
const windowGap = 1000

// Init prepares m for a number of sources.
func (m *Merger) Init(sources int) {
	m.Sources, m.next, m.head = make([]Run, sources), make([]int, sources), make([]uint64, sources)
	if sources > 2 {
		m.window = newWindow()
	}
}

// merge adds m.Sources into dst and returns the number of rows. dst must have room for all
// rows of the sources. If ids do not ascend the result is unspecified but lies within dst;
// callers check the ids of untrusted sources.
func (m *Merger) merge(dst Run, width int) int {
	switch len(m.Sources) {
	case 1:
		Copy(dst, m.Sources[0])
		return len(m.Sources[0].IDs)
	case 2:
		return m.mergeTwo(dst, width)
	}
	total, lowest, highest := 0, uint64(noID), uint64(0)
	for i, s := range m.Sources {
		m.seek(i, 0)
		if n := len(s.IDs); n > 0 {
			total += n
			lowest, highest = min(lowest, m.head[i]), max(highest, uint64(s.IDs[n-1]))
		}
	}
	if width == 1 && total > 0 && highest-lowest <= uint64(total)*windowGap {
		return m.mergeWindows(dst)
	}
	return m.mergeHeads(dst, width)
}

// seek sets the next row of source i.
func (m *Merger) seek(i, next int) {
	m.next[i], m.head[i] = next, noID
	if ids := m.Sources[i].IDs; next < len(ids) {
		m.head[i] = uint64(ids[next])
	}
}

// lowest returns the lowest id among the next rows of all sources, or noID.
func (m *Merger) lowest() uint64 {
	id := uint64(noID)
	for _, head := range m.head {
		id = min(id, head)
	}
	return id
}

// mergeTwo is merge for two sources.
func (m *Merger) mergeTwo(dst Run, width int) int {
	a, b := m.Sources[0], m.Sources[1]
	i, j, n := mergePair(dst, a, b, width)
	rest := b.Cut(j, len(b.IDs), width)
	if i < len(a.IDs) {
		rest = a.Cut(i, len(a.IDs), width)
	}
	Copy(dst.Cut(n, n+len(rest.IDs), width), rest)
	return n + len(rest.IDs)
}

// mergeHeads is merge for any sources, one row at a time.
func (m *Merger) mergeHeads(dst Run, width int) (n int) {
	for id := m.lowest(); id != noID; id = m.lowest() {
		row, first := dst.Values[n*width:(n+1)*width], true
		for i, head := range m.head {
			if head != id {
				continue
			}
			at := m.next[i]
			if from := m.Sources[i].Values[at*width : (at+1)*width]; first {
				copy(row, from)
			} else {
				addRows(row, row, from)
			}
			first = false
			m.seek(i, at+1)
		}
		dst.IDs[n] = uint32(id)
		n++
	}
	return n
}

// mergePair adds runs a and b into dst until one of them ends. It returns the number of rows
// that it took from a, took from b, and wrote. dst must have room for both. The row of a is
// the left operand.
func mergePair(dst, a, b Run, width int) (i, j, n int) {
	if width == 1 {
		return mergePairOfOne(dst, a, b)
	}
	for i < len(a.IDs) && j < len(b.IDs) {
		x, y := a.IDs[i], b.IDs[j]
		row := dst.Values[n*width : (n+1)*width]
		dst.IDs[n] = min(x, y)
		switch {
		case x < y:
			copy(row, a.Values[i*width:])
			i++
		case x > y:
			copy(row, b.Values[j*width:])
			j++
		default:
			addRows(row, a.Values[i*width:], b.Values[j*width:])
			i++
			j++
		}
		n++
	}
	return i, j, n
}

// addRows sets dst to a + b.
func addRows(dst, a, b []float32) {
	a, b = a[:len(dst)], b[:len(dst)]
	if len(dst) >= 64 {
		vec.Sum2(dst, a, b)
		return
	}
	for k := range dst {
		dst[k] = a[k] + b[k]
	}
}

// mergePairOfOne is mergePair for rows of one element. It has no branch that depends on the
// ids, because the processor cannot predict one. It replaces an absent value by -0, which
// changes no value that is added to it.
func mergePairOfOne(dst, a, b Run) (i, j, n int) {
	const absent = 1 << 31 // bits of -0
	av, bv := a.Values[:len(a.IDs)], b.Values[:len(b.IDs)]
	for i < len(a.IDs) && j < len(b.IDs) {
		x, y := a.IDs[i], b.IDs[j]
		fromA := uint32((uint64(x) - uint64(y) - 1) >> 63) // x ≤ y
		fromB := uint32((uint64(y) - uint64(x) - 1) >> 63) // y ≤ x
		va := math.Float32bits(av[i])&-fromA | absent&(fromA-1)
		vb := math.Float32bits(bv[j])&-fromB | absent&(fromB-1)
		dst.IDs[n] = min(x, y)
		dst.Values[n] = math.Float32frombits(va) + math.Float32frombits(vb)
		i += int(fromA)
		j += int(fromB)
		n++
	}
	return i, j, n
}
