package linktest

import (
	"runtime"
	"testing"

	"ringtrain/ring"
)

// Threads verifies that a group over links of a network has as many threads as links over
// sockets need, also with GOMAXPROCS=1.
func Threads(t *testing.T, n Network) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	onGroups(t, n, 2, ring.DefaultConfig(), func(g *ring.Group) error { return g.Barrier(t.Context()) })
	if got := runtime.GOMAXPROCS(0); got != ring.LeastThreads {
		t.Errorf("GOMAXPROCS is %d after ring.New, want %d", got, ring.LeastThreads)
	}
}
