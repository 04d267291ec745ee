package ring

import "slices"

// A rowSplit has the ids of a table in ranges of about as many rows each.
type rowSplit []uint64 // where ranges begin, and Rows behind the last

// even cuts a table into ranges of as many ids.
func (s rowSplit) even(rows uint32) {
	n := len(s) - 1
	for k := range s {
		s[k] = uint64(rows) * uint64(k) / uint64(n)
	}
}

// after cuts a table so that each range has as many of the ids in pieces, which ascend. It
// serves for sums that are like the one that they are of.
func (s rowSplit) after(pieces []rowRun, rows uint32) {
	n, total := len(s)-1, 0
	for _, p := range pieces {
		total += len(p.ids)
	}
	if total < n {
		s.even(rows)
		return
	}
	s[0], s[n] = 0, uint64(rows)
	k, before := 1, 0
	for _, p := range pieces {
		for ; k < n && total*k/n < before+len(p.ids); k++ {
			s[k] = uint64(p.ids[total*k/n-before])
		}
		before += len(p.ids)
	}
	if !slices.IsSorted(s) {
		s.even(rows) // someone writes to the memory that the pieces lie in
	}
}
