package ring

import "ringtrain/ring/internal/vec"

// blockElements is what a worker sums at a time, so that a block of the sum
// stays in the first cache while all workers' parts are added to it.
const blockElements = 2048

// sumParts has the elements s of the first part become the sum of all.
func sumParts(parts [][]float32, s span) {
	if len(parts) < 2 {
		return
	}
	for b := range s.blocks {
		sumInto(parts[0][b.lo:b.hi], parts, b)
	}
}

// spreadParts copies the elements s of the first part to all others.
func spreadParts(parts [][]float32, s span) {
	if len(parts) < 2 {
		return
	}
	for b := range s.blocks {
		for _, part := range parts[1:] {
			copy(part[b.lo:b.hi], parts[0][b.lo:b.hi])
		}
	}
}

// sumInto replaces dst by the sum of the elements s of all parts, in their order.
// It may be those of the first part.
func sumInto(dst []float32, parts [][]float32, s span) {
	if len(parts) == 1 {
		copy(dst, parts[0][s.lo:s.hi])
		return
	}
	vec.Sum2(dst, parts[0][s.lo:s.hi], parts[1][s.lo:s.hi])
	for _, part := range parts[2:] {
		vec.Add(dst, part[s.lo:s.hi])
	}
}

// blocks yields the parts of s that are worked on one after the other.
func (s span) blocks(yield func(span) bool) {
	for lo := s.lo; lo < s.hi; lo += blockElements {
		if !yield(span{lo, min(lo+blockElements, s.hi)}) {
			return
		}
	}
}
