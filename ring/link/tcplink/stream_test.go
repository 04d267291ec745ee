package tcplink

import (
	"context"
	"errors"
	"fmt"
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

// control returns a frame of no payload as it is on the wire.
func control(kind ring.FrameKind, op uint64) []byte {
	return linktest.Bytes(ring.Frame{Kind: kind, Generation: linktest.Generation, Op: op}, false)
}

// TestBadAcks verifies that the sender refuses acknowledgements of frames that it has not
// sent.
func TestBadAcks(t *testing.T) {
	s, _, right := stage(t, Config{})
	right.Write(control(ring.KindAck, 1))
	<-s.Link.(*link).out.ended
	if err := s.Link.Send(t.Context(), data(0, nil)); !errors.Is(err, ring.ErrCorruptFrame) {
		t.Errorf("error %v, want ring.ErrCorruptFrame", err)
	}
}

// TestAcks verifies that acknowledgements come where the protocol says.
func TestAcks(t *testing.T) {
	for _, tt := range []struct {
		repair bool
		frames int
		want   []uint64
	}{{true, 9, []uint64{3, 7}}, {false, 130, []uint64{63, 127}}} {
		t.Run(fmt.Sprintf("repair=%v", tt.repair), func(t *testing.T) { testAcks(t, tt.repair, tt.frames, tt.want) })
	}
}

func testAcks(t *testing.T, repair bool, frames int, want []uint64) {
	s, left, _ := stage(t, Config{Repair: repair})
	const n = 256 << 10
	go func() {
		for op := range uint64(frames) {
			left.Write(linktest.Bytes(data(op, make([]byte, n)), false))
		}
	}()
	into := make([]byte, n)
	for range frames {
		if _, err := s.Link.Recv(t.Context(), into); err != nil {
			t.Fatal(err)
		}
	}
	var acked []uint64
	for range want {
		var b [ring.FrameHeaderBytes]byte
		if _, err := io.ReadFull(left, b[:]); err != nil {
			t.Fatal(err)
		}
		h, err := ring.ParseFrameHeader(b[:])
		if err != nil || h.Kind != ring.KindAck || h.Generation != linktest.Generation {
			t.Fatalf("header %+v, %v, want an acknowledgement", h, err)
		}
		acked = append(acked, h.Op)
	}
	if !slices.Equal(acked, want) {
		t.Errorf("acknowledged %v, want %v", acked, want)
	}
}

// flipper flips the last bit of every large write.
type flipper struct{ net.Conn }

func (c flipper) Write(p []byte) (int, error) {
	if len(p) < 1000 {
		return c.Conn.Write(p)
	}
	q := slices.Clone(p)
	q[len(q)-1] ^= 1
	return c.Conn.Write(q)
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
		if flipped := n > 1000; errors.Is(err, ring.ErrCorruptFrame) != flipped {
			t.Errorf("bytes=%d: error %v, want ring.ErrCorruptFrame: %v", n, err, flipped)
		}
	}
}

// TestCloseWaits verifies that Close waits for the acknowledgements that are due. They would
// reset a closed connection and lose the frames that the neighbour has not read.
func TestCloseWaits(t *testing.T) {
	s, _, right := stage(t, Config{})
	const frames, n = 2, ring.MaxPayloadBytes
	read := make(chan struct{})
	go func() {
		io.CopyN(io.Discard, right, frames*(ring.FrameHeaderBytes+n))
		close(read)
	}()
	for op := range uint64(frames) {
		if err := s.Link.Send(t.Context(), data(op, make([]byte, n))); err != nil {
			t.Fatal(err)
		}
	}
	closed := make(chan struct{})
	go func() {
		s.Link.Close()
		close(closed)
	}()
	<-read
	for op := range uint64(frames) {
		select {
		case <-closed:
			t.Fatalf("closed before acknowledgement %d", op)
		default:
		}
		right.Write(control(ring.KindAck, op))
	}
	<-closed
	last, err := io.ReadAll(right)
	want := control(ring.KindClose, 0)
	if err != nil || !slices.Equal(last, want) {
		t.Errorf("last came %x, %v, want a goodbye and no error", last, err)
	}
}

// TestDelivers verifies that a rank that sends and closes loses no frames.
func TestDelivers(t *testing.T) {
	for _, c := range []Config{{}, {Repair: true}} {
		linktest.CheckDelivery(t, openRing(t, 2, c))
	}
}

// TestContext verifies that no operation begins on a context that has ended.
func TestContext(t *testing.T) {
	linktest.CheckContexts(t, openRing(t, 2, Config{})[0])
}

// TestAllocations verifies that a frame does not allocate on either side.
func TestAllocations(t *testing.T) {
	for _, c := range []Config{{PayloadCRC: true}, {Spin: DefaultSpin}, {PayloadCRC: true, Repair: true}} {
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
