package linktest

import (
	"runtime"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/ringtest"
)

// Threads verifies that a group over two links has the threads that links over sockets need, whoever makes it, also where
// GOMAXPROCS says one.
func Threads(t *testing.T, links []ring.Link) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ringtest.RunOver(t, links, ring.DefaultConfig(), func(g *ring.Group) error { return g.Barrier(t.Context()) })
	if got := runtime.GOMAXPROCS(0); got != ring.LeastThreads {
		t.Errorf("GOMAXPROCS is %d after ring.New, want %d", got, ring.LeastThreads)
	}
}
