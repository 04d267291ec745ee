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

// untried is the part of a link that cannot try to send, and cannot tell when a read sleeps.
type untried struct{ idle func(last bool) }

func (u *untried) TrySend(ring.Frame) bool { return false }

func (u *untried) Notify(idle func(last bool), _ func(*ring.Abort)) { u.idle = idle }

func (u *untried) Facts() ring.LinkFacts { return ring.LinkFacts{} }

// beforeRead calls idle, if the link has a group.
func (u *untried) beforeRead() {
	if u.idle != nil {
		u.idle(true)
	}
}

// unbuffered is a link that holds no frame: Send returns when the neighbour has received.
type unbuffered struct {
	in, out chan ring.Frame
	copied  chan struct{} // the right neighbour has copied the payload
	ack     chan struct{} // the left neighbour's copied
	closed  chan struct{}
	once    sync.Once
	untried
}

// unbufferedRing returns the links of a ring of p ranks.
func unbufferedRing(p int) []ring.Link {
	all := make([]*unbuffered, p)
	for r := range all {
		all[r] = &unbuffered{out: make(chan ring.Frame), copied: make(chan struct{}), closed: make(chan struct{})}
	}
	links := make([]ring.Link, p)
	for r, l := range all {
		left := all[(r+p-1)%p]
		l.in, l.ack = left.out, left.copied
		links[r] = l
	}
	return links
}

func (u *unbuffered) Send(_ context.Context, f ring.Frame) error {
	select {
	case u.out <- f:
		<-u.copied
		return nil
	case <-u.closed:
		return ring.ErrClosed
	}
}

func (u *unbuffered) Recv(_ context.Context, into []byte) (ring.Frame, error) {
	u.beforeRead()
	select {
	case f := <-u.in:
		f.Payload = into[:copy(into, f.Payload)]
		u.ack <- struct{}{}
		return f, nil
	case <-u.closed:
		return ring.Frame{}, ring.ErrClosed
	}
}

func (u *unbuffered) Abort(*ring.Abort) error { return u.Close() }

func (u *unbuffered) Close() error {
	u.once.Do(func() { close(u.closed) })
	return nil
}

// TestUnbufferedLinks verifies that operations that are not small need no room in the link.
// Otherwise a ring of such links would stop with every rank sending.
func TestUnbufferedLinks(t *testing.T) {
	for _, p := range []int{2, 3, 5, 8} {
		for _, c := range codec.All() {
			t.Run(fmt.Sprintf("p=%d/codec=%v", p, c), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ringtest.RunOver(t, unbufferedRing(p), small(nil), func(g *ring.Group) error {
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
