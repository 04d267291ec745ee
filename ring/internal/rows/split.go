package rows

import "slices"

// Split divides the ids of a table into ranges with about the same number of rows. Range k
// is [s[k], s[k+1]); the last element is the number of rows of the table.
type Split []uint64

// Even divides the table into ranges with the same number of ids.
func (s Split) Even(rows uint32) {
	n := len(s) - 1
	for k := range s {
		s[k] = uint64(rows) * uint64(k) / uint64(n)
	}
}

// Follow divides the table so that each range has the same number of the ids of pieces, which
// ascend from piece to piece. The pieces are the result of one sum; the split serves the next
// sum, whose ids are similar.
func (s Split) Follow(pieces []Run, rows uint32) {
	n, total := len(s)-1, 0
	for _, p := range pieces {
		total += len(p.IDs)
	}
	if total < n {
		s.Even(rows)
		return
	}
	s[0], s[n] = 0, uint64(rows)
	k, before := 1, 0
	for _, p := range pieces {
		for ; k < n && total*k/n < before+len(p.IDs); k++ {
			s[k] = uint64(p.IDs[total*k/n-before])
		}
		before += len(p.IDs)
	}
	if !slices.IsSorted(s) {
		s.Even(rows) // a faulty process has written to the memory of pieces
	}
}

// Of returns the range of ids of share i of n. n divides the number of ranges.
func (s Split) Of(i, n int) Range {
	ranges := len(s) - 1
	return Range{s[ranges*i/n], s[ranges*(i+1)/n]}
}
