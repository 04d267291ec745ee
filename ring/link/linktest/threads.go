package linktest

import (
	"runtime"
	"testing"

	"ringtrain/ring"
)

// Threads verifies that a group over links of a network has the threads that links over sockets need, whoever makes it, also
// where GOMAXPROCS says one.
func Threads(t *testing.T, n Network) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	onGroups(t, n, 2, ring.DefaultConfig(), func(g *ring.Group) error { return g.Barrier(t.Context()) })
	if got := runtime.GOMAXPROCS(0); got != ring.LeastThreads {
		t.Errorf("GOMAXPROCS is %d after ring.New, want %d", got, ring.LeastThreads)
	}
}
