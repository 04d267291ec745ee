package ring

import (
	"math"

	"ringtrain/ring/internal/vec"
)

// mergePair sums two runs into dst, which has room for both, until one of them is at its
// end. It returns how many rows it took of each, and how many it made. Of an id that both
// have, a's row stands left of the plus.
func mergePair(dst, a, b rowRun, width int) (i, j, n int) {
	if width == 1 {
		return mergeSingles(dst, a, b)
	}
	for i < len(a.ids) && j < len(b.ids) {
		x, y := a.ids[i], b.ids[j]
		row := dst.values[n*width : (n+1)*width]
		dst.ids[n] = min(x, y)
		switch {
		case x < y:
			copy(row, a.values[i*width:])
			i++
		case x > y:
			copy(row, b.values[j*width:])
			j++
		default:
			addRows(row, a.values[i*width:], b.values[j*width:])
			i++
			j++
		}
		n++
	}
	return i, j, n
}

// addRows has dst become a + b.
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

// mergeSingles is mergePair for rows of one element, without branches that depend on the
// ids: nobody can guess which of two runs goes on. A value that is not there is -0, which
// changes no other one.
func mergeSingles(dst, a, b rowRun) (i, j, n int) {
	const absent = 1 << 31 // bits of -0
	av, bv := a.values[:len(a.ids)], b.values[:len(b.ids)]
	for i < len(a.ids) && j < len(b.ids) {
		x, y := a.ids[i], b.ids[j]
		ofA := uint32((uint64(x) - uint64(y) - 1) >> 63) // x ≤ y
		ofB := uint32((uint64(y) - uint64(x) - 1) >> 63) // y ≤ x
		va := math.Float32bits(av[i])&-ofA | absent&(ofA-1)
		vb := math.Float32bits(bv[j])&-ofB | absent&(ofB-1)
		dst.ids[n] = min(x, y)
		dst.values[n] = math.Float32frombits(va) + math.Float32frombits(vb)
		i += int(ofA)
		j += int(ofB)
		n++
	}
	return i, j, n
}

// A rowJoin sums a run that is there and one that comes in pieces.
type rowJoin struct {
	held  rowRun // rows that are left of the first
	first bool   // its rows stand left of the plus
}

// add sums the rows of a piece, and of what is held those before its last id, into k.
func (c *rowJoin) add(k *rowSink, piece rowRun, width int) {
	k.more(len(c.held.ids)+len(piece.ids), width)
	dst := k.room.cut(k.n, len(k.room.ids), width)
	var of, from, n int
	if c.first {
		of, from, n = mergePair(dst, c.held, piece, width)
	} else {
		from, of, n = mergePair(dst, piece, c.held, width)
	}
	c.held = c.held.cut(of, len(c.held.ids), width)
	k.n += n
	if from < len(piece.ids) { // nothing is held any more
		k.append(piece.cut(from, len(piece.ids), width), width)
	}
}

// end appends what is left.
func (c *rowJoin) end(k *rowSink, width int) {
	k.append(c.held, width)
	c.held = rowRun{}
}
