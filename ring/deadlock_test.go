package ring_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"ringtrain/ring"
	"ringtrain/ring/codec"
	"ringtrain/ring/ringtest"
)

// A tight link holds no frame: Send returns when the neighbour has received.
type tight struct {
	in, out chan ring.Frame
	got     chan struct{} // the neighbour to the right has copied the payload
	gave    chan struct{} // this rank has
	closed  chan struct{}
	once    sync.Once
}

func tightRing(p int) []ring.Link {
	all := make([]*tight, p)
	for r := range all {
		all[r] = &tight{out: make(chan ring.Frame), got: make(chan struct{}), closed: make(chan struct{})}
	}
	links := make([]ring.Link, p)
	for r, l := range all {
		left := all[(r+p-1)%p]
		l.in, l.gave = left.out, left.got
		links[r] = l
	}
	return links
}

func (l *tight) Send(_ context.Context, f ring.Frame) error {
	select {
	case l.out <- f:
		<-l.got
		return nil
	case <-l.closed:
		return ring.ErrClosed
	}
}

func (l *tight) Recv(_ context.Context, into []byte) (ring.Frame, error) {
	select {
	case f := <-l.in:
		f.Payload = into[:copy(into, f.Payload)]
		l.gave <- struct{}{}
		return f, nil
	case <-l.closed:
		return ring.Frame{}, ring.ErrClosed
	}
}

func (l *tight) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// TestTightLinks fails if operations that are not small need room in the link:
// a ring of such links would stop for ever, with every rank sending.
func TestTightLinks(t *testing.T) {
	for _, p := range []int{2, 3, 5, 8} {
		for _, c := range codec.All() {
			t.Run(fmt.Sprintf("p=%d/codec=%v", p, c), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ringtest.RunOver(t, tightRing(p), small(nil), func(g *ring.Group) error {
						r := ring.Reduction{Buf: make([]float32, 2000*p), Codec: c, Tails: make([]byte, p*ring.TailBytes)}
						for range 3 {
							if err := g.AllReduce(t.Context(), r); err != nil {
								return err
							}
							if err := g.AllGather(t.Context(), make([]byte, 5000), new(ring.Gathered)); err != nil {
								return err
							}
							if err := g.Broadcast(t.Context(), 1, bytes.NewReader(make([]byte, 5000)), new(bytes.Buffer)); err != nil {
								return err
							}
						}
						return nil
					})
				})
			})
		}
	}
}
