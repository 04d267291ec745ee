package ring

import (
	"math"
	"math/bits"
)

// windowIDs is how many ids a merger of single elements looks at together: their sums stay
// in the first cache.
const windowIDs = 1 << 13

// A rowWindow holds the sums of the ids [base, base+windowIDs). Between uses all sums are -0,
// which changes nothing that is added to it, and no bit is set.
type rowWindow struct {
	sums [windowIDs]float32
	bits [windowIDs / 64]uint64      // of the ids that have one
	any  [windowIDs / 64 / 64]uint64 // of the words of bits that are not 0
}

var minusZero = math.Float32frombits(1 << 31)

func (w *rowWindow) init() {
	for i := range w.sums {
		w.sums[i] = minusZero
	}
}

// add adds the rows of r from at on that lie in the window, and returns where they end.
func (w *rowWindow) add(r rowRun, at int, base uint64) int {
	ids, values := r.ids[at:], r.values[at:len(r.ids)]
	values = values[:len(ids)]
	for i, id := range ids {
		d := uint64(id) - base
		if d >= windowIDs {
			return at + i
		}
		w.sums[d] += values[i]
		w.bits[d/64] |= 1 << (d % 64)
		w.any[d/4096] |= 1 << (d / 64 % 64)
	}
	return len(r.ids)
}

// take moves the sums to dst, by ascending ids, and returns how many there are.
func (w *rowWindow) take(dst rowRun, base uint64) int {
	n := 0
	ids, values := dst.ids, dst.values[:len(dst.ids)]
	for a := range w.any {
		for any := w.any[a]; any != 0; any &= any - 1 {
			k := 64*a + bits.TrailingZeros64(any)
			first, sums := uint32(base)+uint32(64*k), (*[64]float32)(w.sums[64*k:])
			for word := w.bits[k]; word != 0; word &= word - 1 {
				i := bits.TrailingZeros64(word) & 63
				ids[n], values[n] = first+uint32(i), sums[i]
				sums[i] = minusZero
				n++
			}
			w.bits[k] = 0
		}
		w.any[a] = 0
	}
	return n
}

// mergeWindows is merge for rows of one element, a window at a time: which run goes on is
// not asked for each row, so that nothing is guessed wrongly.
func (m *merger) mergeWindows(dst rowRun) (n int) {
	for id := m.lowest(); id != none; id = m.lowest() {
		base := id &^ 63
		for i := range m.sources {
			m.goTo(i, m.window.add(m.sources[i], m.at[i], base))
		}
		n += m.window.take(dst.cut(n, len(dst.ids), 1), base)
	}
	return n
}
