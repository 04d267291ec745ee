package memlink_test

import (
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/memlink"
)

// TestMesh verifies that the link of a round leads to the partner of that round and back, and
// that a rank without a partner has none.
func TestMesh(t *testing.T) {
	for p := 1; p <= 9; p++ {
		mesh, ranks := memlink.Mesh(p), make([]int, p)
		for r := range ranks {
			ranks[r] = r
		}
		for me := range mesh {
			routes := ring.RoundRoutes(ranks, me, ring.StreamRounds)
			if len(routes) != len(mesh[me].Rounds) {
				t.Fatalf("p=%d rank %d: %d rounds, want %d", p, me, len(mesh[me].Rounds), len(routes))
			}
			for k, route := range routes {
				if l := mesh[me].Rounds[k]; (l != nil) != (route.To >= 0) {
					t.Errorf("p=%d rank %d round %d: link %v for route %+v", p, me, k, l, route)
				} else if l != nil {
					passes(t, l, mesh[route.To].Rounds[k], uint64(100*me+k))
				}
			}
		}
	}
}

// passes verifies that a frame sent on from arrives on to.
func passes(t *testing.T, from, to ring.Link, op uint64) {
	t.Helper()
	if err := from.Send(t.Context(), ring.Frame{Op: op}); err != nil {
		t.Fatal(err)
	}
	if f, err := to.Recv(t.Context(), nil); err != nil || f.Op != op {
		t.Errorf("frame of operation %d, %v, want %d", f.Op, err, op)
	}
}
