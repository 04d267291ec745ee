package look

import "math/bits"

// distinct estimates how many different values a column has. It is exact up to limit. Beyond, it keeps the
// hashes whose lowest level bits are 0, as few as fit (Flajolet, "On adaptive sampling", 1990). The result
// depends on the values, not on their order.
type distinct struct {
	limit int
	level int
	n     int      // hashes in slots
	slots []uint64 // open addressing; 0: free. The highest bit marks a hash that came again
}

const againBit = 1 << 63

// add takes the hash of a value.
func (d *distinct) add(h uint64) {
	h &^= againBit
	if h == 0 {
		h = 1 << 62
	}
	if bits.TrailingZeros64(h) < d.level {
		return
	}
	if 4*(d.n+1) > 3*len(d.slots) {
		d.resize(max(16, 2*len(d.slots)))
	}
	if !d.put(h) {
		return
	}
	for d.n > d.limit {
		d.level++
		d.resize(len(d.slots))
	}
}

// put stores a hash, and reports whether it is new.
func (d *distinct) put(h uint64) bool {
	mask := uint64(len(d.slots) - 1)
	for at := h >> 20 & mask; ; at = (at + 1) & mask {
		switch d.slots[at] &^ againBit {
		case 0:
			d.slots[at] = h
			d.n++
			return true
		case h &^ againBit:
			if d.slots[at]&againBit == 0 { // else the core of another goroutine loses the line for nothing
				d.slots[at] |= againBit
			}
			return false
		}
	}
}

// resize puts the hashes of the level into so many slots.
func (d *distinct) resize(slots int) {
	old := d.slots
	d.slots, d.n = make([]uint64, slots), 0
	for _, h := range old {
		if h != 0 && bits.TrailingZeros64(h) >= d.level {
			d.put(h)
		}
	}
}

// count returns the number of values, and whether it is exact.
func (d *distinct) count() (n int64, exact bool) { return int64(d.n) << d.level, d.level == 0 }

// unique reports whether no value came again, of those whose hashes are kept.
func (d *distinct) unique() bool {
	for _, h := range d.slots {
		if h&againBit != 0 {
			return false
		}
	}
	return true
}

// holds reports whether a hash of the level is among those that are kept.
func (d *distinct) holds(h uint64) bool {
	if len(d.slots) == 0 {
		return false
	}
	mask := uint64(len(d.slots) - 1)
	for at := h >> 20 & mask; d.slots[at] != 0; at = (at + 1) & mask {
		if d.slots[at]&^againBit == h {
			return true
		}
	}
	return false
}

// common returns how many values d and o have both, an estimate where one of them is.
func (d *distinct) common(o *distinct) int64 { return d.countIf(o, true) }

// beyond returns how many values of d are none of o.
func (d *distinct) beyond(o *distinct) int64 { return d.countIf(o, false) }

func (d *distinct) countIf(o *distinct, inBoth bool) (n int64) {
	level := max(d.level, o.level)
	for _, h := range d.slots {
		h &^= againBit
		if h != 0 && bits.TrailingZeros64(h) >= level && o.holds(h) == inBoth {
			n++
		}
	}
	return n << level
}
