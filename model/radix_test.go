package model

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortKeys verifies sortKeys against slices.Sort: below and above the scratch limit,
// for distributed and for few values.
func TestSortKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var scratch []uint32
	for _, n := range []int{0, 1, 255, 256, 5000, sortScratch + 1, 3 * sortScratch} {
		for _, spread := range []uint32{1, 300, 1 << 20, 1<<32 - 1} {
			keys := make([]uint32, n)
			for i := range keys {
				keys[i] = 0xbd000000 + r.Uint32N(spread)
			}
			want := slices.Sorted(slices.Values(keys))
			scratch = sortKeys(keys, scratch)
			if !slices.Equal(keys, want) {
				t.Errorf("n=%d, spread=%d: keys are not sorted", n, spread)
			}
		}
	}
	if cap(scratch) > 2*sortScratch {
		t.Errorf("scratch memory has %d keys, want about %d at most", cap(scratch), sortScratch)
	}
}
