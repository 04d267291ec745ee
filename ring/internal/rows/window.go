package rows

import (
	"math"
	"math/bits"
)

// windowIDs is the number of ids that a window holds. Their sums fit in the first-level
// cache.
const windowIDs = 1 << 13

// window holds the sums of the ids [base, base+windowIDs), for rows of one element. Between
// uses all sums are -0, which changes no value that is added to it, and all bits are 0.
type window struct {
	sums    [windowIDs]float32
	present [windowIDs / 64]uint64      // one bit for each id that has a sum
	words   [windowIDs / 64 / 64]uint64 // one bit for each word of present that is not 0
}

var minusZero = math.Float32frombits(1 << 31)

func newWindow() *window {
	w := new(window)
	for i := range w.sums {
		w.sums[i] = minusZero
	}
	return w
}

// add adds the rows of r from index at that lie in the window from base. It returns the index
// behind the last one.
func (w *window) add(r Run, at int, base uint64) int {
	ids, values := r.IDs[at:], r.Values[at:len(r.IDs)]
	values = values[:len(ids)]
	for i, id := range ids {
		d := uint64(id) - base
		if d >= windowIDs {
			return at + i
		}
		w.sums[d] += values[i]
		w.present[d/64] |= 1 << (d % 64)
		w.words[d/4096] |= 1 << (d / 64 % 64)
	}
	return len(r.IDs)
}

// take moves the sums to dst by ascending ids and returns their number.
func (w *window) take(dst Run, base uint64) int {
	n := 0
	ids, values := dst.IDs, dst.Values[:len(dst.IDs)]
	for a := range w.words {
		for words := w.words[a]; words != 0; words &= words - 1 {
			k := 64*a + bits.TrailingZeros64(words)
			first, sums := uint32(base)+uint32(64*k), (*[64]float32)(w.sums[64*k:])
			for word := w.present[k]; word != 0; word &= word - 1 {
				i := bits.TrailingZeros64(word) & 63
				ids[n], values[n] = first+uint32(i), sums[i]
				sums[i] = minusZero
				n++
			}
			w.present[k] = 0
		}
		w.words[a] = 0
	}
	return n
}

// mergeWindows is merge for rows of one element, one window at a time. It does not ask for
// each row which source comes next, so no branch is mispredicted.
func (m *Merger) mergeWindows(dst Run) (n int) {
	for id := m.lowest(); id != noID; id = m.lowest() {
		base := id &^ 63
		for i := range m.Sources {
			m.seek(i, m.window.add(m.Sources[i], m.next[i], base))
		}
		n += m.window.take(dst.Cut(n, len(dst.IDs), 1), base)
	}
	return n
}
