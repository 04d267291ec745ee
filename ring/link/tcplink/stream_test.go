package tcplink

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
)

func data(op uint64, payload []byte) ring.Frame {
	return ring.Frame{Kind: ring.KindData, Generation: linktest.Generation, Op: op, Payload: payload}
}

// goodbye returns the last frame of a link that closes, as it is on the wire.
func goodbye() []byte {
	return linktest.Bytes(ring.Frame{Kind: ring.KindClose, Generation: linktest.Generation}, false)
}

// TestBackwardData verifies that the sender takes nothing but a last frame from the neighbour.
func TestBackwardData(t *testing.T) {
	for _, payload := range [][]byte{nil, {1}} {
		s, _, right := stage(t, Config{})
		right.Write(linktest.Bytes(data(0, payload), true))
		<-s.Link.(*link).out.ended
		if err := s.Link.Send(t.Context(), data(0, nil)); !errors.Is(err, ring.ErrCorruptFrame) {
			t.Errorf("bytes=%d: error %v, want ring.ErrCorruptFrame", len(payload), err)
		}
	}
}

// flipper flips the last bit of every large write.
type flipper struct{ net.Conn }

func (f flipper) Write(p []byte) (int, error) {
	if len(p) < 1000 {
		return f.Conn.Write(p)
	}
	q := slices.Clone(p)
	q[len(q)-1] ^= 1
	return f.Conn.Write(q)
}

// TestFlippedBit verifies that with payload CRCs a flipped bit never reaches a gradient.
func TestFlippedBit(t *testing.T) {
	links := openRing(t, 2, Config{PayloadCRC: true, Dial: func(ctx context.Context, addr string) (net.Conn, error) {
		c, err := dialTCP(ctx, addr)
		return flipper{c}, err
	}})
	for _, n := range []int{10, 2000} {
		if err := links[0].Send(t.Context(), data(0, make([]byte, n))); err != nil {
			t.Fatal(err)
		}
		_, err := links[1].Recv(t.Context(), make([]byte, n))
		if flipped := n > 1000; errors.Is(err, ring.ErrDamagedFrame) != flipped {
			t.Errorf("bytes=%d: error %v, want ring.ErrDamagedFrame: %v", n, err, flipped)
		}
	}
}

// TestGoodbye verifies that the last frame of a link that closes is a goodbye.
func TestGoodbye(t *testing.T) {
	s, left, right := stage(t, Config{})
	s.Link.Close()
	for name, c := range map[string]io.Reader{"left": left, "right": right} {
		if last, err := io.ReadAll(c); err != nil || !slices.Equal(last, goodbye()) {
			t.Errorf("%s: received %x, %v, want a goodbye and no error", name, last, err)
		}
	}
}

// TestDelivers verifies that a rank that sends and closes loses no frames.
func TestDelivers(t *testing.T) {
	linktest.CheckDelivery(t, openRing(t, 2, Config{}))
}

// TestContext verifies that no operation begins on a context that has ended.
func TestContext(t *testing.T) {
	linktest.CheckContexts(t, openRing(t, 2, Config{})[0])
}

// TestAllocations verifies that a frame does not allocate on either side.
func TestAllocations(t *testing.T) {
	for _, c := range []Config{{PayloadCRC: true}, {Spin: DefaultSpin}} {
		for _, n := range []int{0, 64, 128 << 10} {
			if got := linktest.Allocations(t, openRing(t, 2, c), n); got != 0 {
				t.Errorf("bytes=%d: %v allocations per frame with %+v, want 0", n, got, c)
			}
		}
	}
}

// TestPortable verifies that sockets of package net, which links use on other systems, keep the
// same contract as those of Linux.
func TestPortable(t *testing.T) {
	linktest.Run(t, func(t *testing.T, p int) []ring.Link {
		links := make([]ring.Link, p)
		in, out := make([]socket, p), make([]socket, p)
		m := ring.Membership{Generation: linktest.Generation, Workers: make([]ring.Worker, p)}
		for rank := range p {
			a, b := tcpPair(t)
			out[rank], in[(rank+1)%p] = &portableSocket{Conn: a}, &portableSocket{Conn: b}
		}
		for rank := range p {
			r := ring.Route{To: (rank + 1) % p, From: (rank + p - 1) % p}
			links[rank] = newLink(m, r, out[rank], in[rank], Config{PayloadCRC: true})
		}
		return links
	})
}
