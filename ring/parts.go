package ring

import "ringtrain/ring/internal/vec"

// blockElements is how many elements a worker sums at a time, so that a block of the sum
// stays in the first cache while all workers' parts are added to it.
const blockElements = 2048

// sumParts replaces dst by the sum of the elements [lo, hi) of all parts, in the parts' order.
// dst may be those elements of the first part. Without parts, dst is the sum already.
func sumParts(dst []float32, parts [][]float32, lo, hi int) {
	if len(parts) == 0 {
		return
	}
	for ; lo < hi; lo += blockElements {
		end := min(lo+blockElements, hi)
		block := dst[:end-lo]
		dst = dst[end-lo:]
		if len(parts) == 1 {
			copy(block, parts[0][lo:end])
			continue
		}
		vec.Sum2(block, parts[0][lo:end], parts[1][lo:end])
		for _, part := range parts[2:] {
			vec.Add(block, part[lo:end])
		}
	}
}

// spreadParts copies the elements [lo, hi) of the first part to all others.
func spreadParts(parts [][]float32, lo, hi int) {
	if len(parts) < 2 {
		return
	}
	for ; lo < hi; lo += blockElements {
		end := min(lo+blockElements, hi)
		for _, part := range parts[1:] {
			copy(part[lo:end], parts[0][lo:end])
		}
	}
}

// blocks yields the blocks of s, one after the other.
func (s span) blocks(yield func(span) bool) {
	for lo := s.lo; lo < s.hi; lo += blockElements {
		if !yield(span{lo, min(lo+blockElements, s.hi)}) {
			return
		}
	}
}
