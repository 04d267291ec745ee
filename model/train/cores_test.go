package train

import (
	"fmt"
	"runtime"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/ringtest"
)

// TestShareOf fails if the ranks of a container take more than its quota
// together, or if one has none at all.
func TestShareOf(t *testing.T) {
	for _, tt := range []struct{ each, local, cores, threads, want int }{
		{8, 1, 8, 8, 8},
		{2, 4, 8, 8, 2},
		{4, 4, 4, 4, 4}, // each is bound to four of its own
		{0, 9, 8, 8, 1},
		{2, 4, 8, 4, 1}, // a quota of four cores
		{8, 1, 8, 4, 4},
		{2, 4, 8, 2, 1},
	} {
		t.Run(fmt.Sprintf("each=%d/local=%d/cores=%d/threads=%d", tt.each, tt.local, tt.cores, tt.threads), func(t *testing.T) {
			if got := shareOf(tt.each, tt.local, tt.cores, tt.threads); got != tt.want {
				t.Errorf("the share is %d, want %d", got, tt.want)
			}
		})
	}
}

// TestShareCores fails if a process takes more threads than its share, or other
// than the user has fixed.
func TestShareCores(t *testing.T) {
	threads := runtime.NumCPU() + 2 // no quota
	before := runtime.GOMAXPROCS(threads)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	const together = 3 // some are bound to cores of their own
	for _, local := range []int{1, 2, 3, 1000} {
		for _, fixed := range []bool{true, false} {
			runtime.GOMAXPROCS(threads)
			share := max(ring.CoresEach(local, together), 1)
			want := threads
			if !fixed {
				want = max(share, leastThreads)
			}
			if got := ShareCores(ringtest.Membership(local, 0), together, fixed); got != share || runtime.GOMAXPROCS(0) != want {
				t.Errorf("local=%d fixed=%t: %d cores and %d threads, want %d and %d", local, fixed, got, runtime.GOMAXPROCS(0), share, want)
			}
		}
	}
	runtime.GOMAXPROCS(1) // as a launcher that binds fixes it
	if got := ShareCores(ringtest.Membership(2, 0), together, true); got != 1 || runtime.GOMAXPROCS(0) != leastThreads {
		t.Errorf("fixed to one: %d cores and %d threads, want 1 and %d", got, runtime.GOMAXPROCS(0), leastThreads)
	}
}
