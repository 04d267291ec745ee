package input

import "testing"

// BenchmarkShare measures the order of a global batch of 2,000 records of blocks.
func BenchmarkShare(b *testing.B) {
	counts := make([]uint16, 3*WindowBlocks)
	for i := range counts {
		counts[i] = 237
	}
	s := newSequence(blocked{NewBlocks(counts)}.facts(), true, 1, 0)
	var dst []int
	for b.Loop() {
		dst = s.share(dst[:0], 1000, 3000, 0, 1000)
	}
}
