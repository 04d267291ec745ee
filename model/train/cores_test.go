package train

import (
	"runtime"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/cores"
	"ringtrain/ring/ringtest"
)

// TestShareCores fails if a process takes more threads than its share, or other
// than the user has fixed.
func TestShareCores(t *testing.T) {
	threads := runtime.NumCPU() + 2
	before := runtime.GOMAXPROCS(threads)
	t.Cleanup(func() { runtime.GOMAXPROCS(before) })
	const together = 3 // some are bound to cores of their own
	for _, local := range []int{1, 2, 3, 1000} {
		for _, fixed := range []int{threads, 0} {
			runtime.GOMAXPROCS(threads)
			share := max(cores.Each(local, together), 1)
			want := threads
			if fixed == 0 {
				want = max(share, ring.LeastThreads)
			}
			if got := ShareCores(ringtest.Membership(local, 0), together, fixed); got != share || runtime.GOMAXPROCS(0) != want {
				t.Errorf("local=%d fixed=%d: %d cores and %d threads, want %d and %d", local, fixed, got, runtime.GOMAXPROCS(0), share, want)
			}
		}
	}
	runtime.GOMAXPROCS(1) // as a launcher that binds fixes it
	if got := ShareCores(ringtest.Membership(2, 0), together, 1); got != 1 || runtime.GOMAXPROCS(0) != ring.LeastThreads {
		t.Errorf("fixed to one: %d cores and %d threads, want 1 and %d", got, runtime.GOMAXPROCS(0), ring.LeastThreads)
	}
}
