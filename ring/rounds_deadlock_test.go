package ring_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"ringtrain/ring"
	"ringtrain/ring/link/memlink"
)

// A narrow link holds one frame of 64 KiB, which is what every link must.
type narrow struct {
	in, out chan ring.Frame
	closed  chan struct{}
	once    sync.Once
	untried
}

func narrowPair() (a, b ring.Link) {
	there, back := make(chan ring.Frame, 1), make(chan ring.Frame, 1)
	return &narrow{in: back, out: there, closed: make(chan struct{})}, &narrow{in: there, out: back, closed: make(chan struct{})}
}

func (n *narrow) Send(_ context.Context, f ring.Frame) error {
	if len(f.Payload) > 64<<10 {
		return fmt.Errorf("payload of %d bytes, want at most 64 KiB", len(f.Payload))
	}
	f.Payload = bytes.Clone(f.Payload)
	select {
	case n.out <- f:
		return nil
	case <-n.closed:
		return ring.ErrClosed
	}
}

func (n *narrow) Recv(_ context.Context, into []byte) (ring.Frame, error) {
	n.beforeRead()
	select {
	case f := <-n.in:
		f.Payload = into[:copy(into, f.Payload)]
		return f, nil
	case <-n.closed:
		return ring.Frame{}, ring.ErrClosed
	}
}

func (n *narrow) Abort(*ring.Abort) error { return n.Close() }

func (n *narrow) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

// replaceRounds makes the links of rounds of mesh anew.
func replaceRounds(mesh []ring.Transport, pair func() (a, b ring.Link)) {
	ranks := make([]int, len(mesh))
	for r := range ranks {
		ranks[r] = r
	}
	for me := range mesh {
		for k, route := range ring.RoundRoutes(ranks, me, ring.StreamRounds) {
			if route.To > me {
				mesh[me].Rounds[k], mesh[route.To].Rounds[k] = pair()
			}
		}
	}
}

// TestNarrowLinks verifies that rounds need no more room in a link than every link has.
// Otherwise all ranks would block in Send, and the bubble would report a deadlock.
func TestNarrowLinks(t *testing.T) {
	for _, name := range inRounds {
		for p := 2; p <= 9; p++ {
			mesh := memlink.Mesh(p)
			replaceRounds(mesh, narrowPair)
			synctest.Test(t, func(t *testing.T) {
				overMesh(t, mesh, by(t, name), func(g *ring.Group) error {
					r := ring.Reduction{Buf: make([]float32, 40000), Tails: make([]byte, p*ring.TailBytes)}
					for range 2 {
						if err := g.AllReduce(t.Context(), r); err != nil {
							return err
						}
					}
					return nil
				})
			})
		}
	}
}

func tightPair() (a, b ring.Link) {
	pair := unbufferedRing(2)
	return pair[0], pair[1]
}

// TestTightRounds verifies that halving with large frames needs no room in a link and sums
// right.
func TestTightRounds(t *testing.T) {
	cfg := by(t, "halving")
	cfg.SegmentElements = 1 << 15
	for _, p := range []int{2, 3, 4, 7, 8} {
		mesh := memlink.Mesh(p)
		replaceRounds(mesh, tightPair)
		synctest.Test(t, func(t *testing.T) {
			testRounds(t, cfg, mesh, inputs(p, 100001), []int{100001})
		})
	}
}
