package tcplink

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/linktest"
)

func data(op uint64, payload []byte) ring.Frame {
	return ring.Frame{Kind: ring.KindData, Generation: linktest.Generation, Op: op, Payload: payload}
}

// goodbye returns the last frame of a link that closes, as it is on the wire.
func goodbye() []byte {
	return wireBytes(ring.Frame{Kind: ring.KindClose, Generation: linktest.Generation})
}

// TestBackwardData verifies that the sender takes nothing but a last frame from the neighbour.
func TestBackwardData(t *testing.T) {
	for _, payload := range [][]byte{nil, {1}} {
		s, _, right := newStage(t)
		right.Write(wireBytes(data(0, payload)))
		<-s.Link.(*link).out.ended
		if err := s.Link.Send(t.Context(), data(0, nil)); !errors.Is(err, ring.ErrCorruptFrame) {
			t.Errorf("bytes=%d: error %v, want ring.ErrCorruptFrame", len(payload), err)
		}
	}
}

// flipper flips the last bit of every large write, from some time on.
type flipper struct {
	net.Conn
	now *atomic.Bool
}

func (f flipper) Write(p []byte) (int, error) {
	if len(p) < 1000 || !f.now.Load() {
		return f.Conn.Write(p)
	}
	q := slices.Clone(p)
	q[len(q)-1] ^= 1
	return f.Conn.Write(q)
}

// TestFlippedBit verifies that a flipped bit between hosts never reaches a gradient, and that the
// error names the link. TLS tells the sender, too.
func TestFlippedBit(t *testing.T) {
	for _, how := range []mode{auth, tls, tls.sharing()} {
		var now atomic.Bool
		links := openRing(t, 2, how.dialing(func(ctx context.Context, addr string) (net.Conn, error) {
			c, err := dialTCP(ctx, addr)
			return flipper{c, &now}, err
		}))
		now.Store(true)
		want := fmt.Sprintf("link 0 -> 1 at %s: bytes were changed on the way (", links[1].(*link).self.Addr)
		for _, n := range []int{10, 2000} {
			if err := links[0].Send(t.Context(), data(0, make([]byte, n))); err != nil {
				t.Fatal(err)
			}
			_, err := links[1].Recv(t.Context(), make([]byte, n))
			if n < 1000 {
				if err != nil {
					t.Errorf("mode=%s bytes=%d: %v", how.name, n, err)
				}
			} else if !errors.Is(err, ring.ErrChangedBytes) || exitcode.Of(err) != exitcode.Retry || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("mode=%s bytes=%d: error %v (code %d), want %q and exitcode.Retry", how.name, n, err, exitcode.Of(err), want)
			}
		}
		if how.name != tls.name {
			continue
		}
		err := error(nil)
		for op := uint64(1); err == nil && t.Context().Err() == nil; op++ {
			if how.shared {
				_, err = links[0].Recv(t.Context(), nil)
			} else {
				err = links[0].Send(t.Context(), data(op, nil))
			}
		}
		if !errors.Is(err, ring.ErrChangedBytes) {
			t.Errorf("the sender's error is %v, want ring.ErrChangedBytes", err)
		}
	}
}

// TestGoodbye verifies that the last frame of a link that closes is a goodbye.
func TestGoodbye(t *testing.T) {
	s, left, right := newStage(t)
	s.Link.Close()
	for name, c := range map[string]io.Reader{"left": left, "right": right} {
		if last, err := io.ReadAll(c); err != nil || !slices.Equal(last, goodbye()) {
			t.Errorf("%s: received %x, %v, want a goodbye and no error", name, last, err)
		}
	}
}

// checkDelivery verifies that no frame is lost when rank 0 of two sends more than any buffer holds
// and closes at once.
func checkDelivery(t *testing.T, links []ring.Link) {
	const n, frames = 1 << 20, 24
	var sending sync.WaitGroup
	sending.Go(func() {
		payload := make([]byte, n)
		for op := range uint64(frames) {
			if err := links[0].Send(t.Context(), data(op, payload)); err != nil {
				t.Errorf("frame %d: %v", op, err)
			}
		}
		links[0].Close()
	})
	into := make([]byte, n)
	for op := range uint64(frames) {
		if f, err := links[1].Recv(t.Context(), into); err != nil || f.Op != op {
			t.Fatalf("received operation %d, %v, want %d", f.Op, err, op)
		}
	}
	if _, err := links[1].Recv(t.Context(), into); !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want io.EOF", err)
	}
	sending.Wait()
}

// TestDelivers verifies that a rank that sends and closes loses no frames.
func TestDelivers(t *testing.T) {
	for _, how := range []mode{local, tls, auth.sharing(), tls.sharing()} {
		checkDelivery(t, openRing(t, 2, how))
	}
}

// TestContext verifies that no operation begins on a context that has ended, and that the error
// has the cause.
func TestContext(t *testing.T) {
	l := openRing(t, 2, local)[0]
	cause := errors.New("generation ended")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if err := l.Send(ctx, data(0, nil)); !errors.Is(err, cause) {
		t.Errorf("send: error %v, want %v", err, cause)
	}
	if _, err := l.Recv(ctx, nil); !errors.Is(err, cause) {
		t.Errorf("receive: error %v, want %v", err, cause)
	}
}

// allocations returns the number of allocations of a frame with n bytes of payload on its
// way from links[0] to links[1].
func allocations(t *testing.T, links []ring.Link, n int) float64 {
	t.Helper()
	payload, into := make([]byte, n), make([]byte, n)
	var op uint64
	return testing.AllocsPerRun(100, func() {
		op++
		if err := links[0].Send(t.Context(), data(op, payload)); err != nil {
			t.Fatal(err)
		}
		if _, err := links[1].Recv(t.Context(), into); err != nil {
			t.Fatal(err)
		}
	})
}

// TestAllocations verifies that a frame does not allocate on either side. With TLS the receiver
// allocates at most one object a record.
func TestAllocations(t *testing.T) {
	for _, how := range []mode{local, local.spinning(0), auth, tls, tls.sharing()} {
		for _, n := range []int{0, 64, 128 << 10} {
			want := 0.0
			if how.name == tls.name {
				want = float64(2 + n/recordBytes)
			}
			if got := allocations(t, openRing(t, 2, how), n); got > want {
				t.Errorf("bytes=%d: %v allocations per frame with %+v, want %v at most", n, got, how, want)
			}
		}
	}
}

// TestPortable verifies that sockets of package net, which links use on other systems, keep the
// same contract as those of Linux.
func TestPortable(t *testing.T) {
	linktest.Run(t, func(t *testing.T, p int) []ring.Link {
		links := make([]ring.Link, p)
		in, out := make([]*conn, p), make([]*conn, p)
		m := ring.Membership{Generation: linktest.Generation, Workers: make([]ring.Worker, p)}
		for rank := range p {
			a, b := tcpPair(t)
			out[rank], in[(rank+1)%p] = plain(&portableSocket{Conn: a}), plain(&portableSocket{Conn: b})
		}
		for rank := range p {
			r := ring.Route{To: (rank + 1) % p, From: (rank + p - 1) % p}
			links[rank] = newLink(m, r, out[rank], in[rank])
		}
		return links
	})
}
