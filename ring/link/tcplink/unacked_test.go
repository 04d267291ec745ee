package tcplink

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
	"ringtrain/ring/link/linktest"
)

// TestUnacked sends, acknowledges and rewinds frames of random sizes at random. It verifies
// that the bytes to repeat are those that were sent, and that no more are kept.
func TestUnacked(t *testing.T) {
	const seed = 1
	rnd := rand.New(rand.NewPCG(seed, 0))
	payload := make([]byte, 1<<20)
	for i := range payload {
		payload[i] = byte(rnd.Uint32())
	}
	var (
		k     = newUnackedBuffer()
		book  delivery.AckTracker
		count delivery.ReceivedCounter
		wire  []ring.Frame // sent and not received
	)
	for i := range 3000 {
		f := data(uint64(i/5), payload[:rnd.IntN(1<<(rnd.IntN(20)+1))])
		f.Segment = uint32(i % 5)
		if !k.reserve(ring.FrameHeaderBytes + len(f.Payload)) {
			t.Fatal("no room")
		}
		var head [ring.FrameHeaderBytes]byte
		ring.PutFrameHeader(head[:], &f, true)
		k.add(delivery.At(&f), head[:], f.Payload, book.Add(&f))
		wire = append(wire, f)
		for len(wire) > 0 && (rnd.IntN(3) > 0 || k.size() > maxUnackedBytes-2<<20) {
			got := wire[0]
			wire = wire[1:]
			if count.Add(&got) {
				if err := book.Ack(&ring.Frame{Op: got.Op, Segment: got.Segment}); err != nil {
					t.Fatal(err)
				}
				if err := k.drop(delivery.At(&got)); err != nil {
					t.Fatal(err)
				}
			}
		}
		if rnd.IntN(20) > 0 {
			continue
		}
		next := delivery.At(&f).Next()
		if len(wire) > 0 {
			next = delivery.At(&wire[0])
		}
		count = delivery.ReceivedCounter{}
		a, b, err := k.rewind(next, &book)
		var want []byte
		for _, f := range wire {
			want = append(want, linktest.Bytes(f, true)...)
		}
		if err != nil || !bytes.Equal(append(bytes.Clone(a), b...), want) {
			t.Fatalf("seed %d, frame %d: %d bytes, %v, want %d that were sent and have not arrived", seed, i, len(a)+len(b), err, len(want))
		}
	}
	if n := len(k.memory); n > 2*maxUnackedBytes {
		t.Errorf("%d bytes of memory, want at most %d", n, 2*maxUnackedBytes)
	}
}

// TestUnackedFull verifies that a full buffer waits and does not drop frames, and that it
// does not wait for an acknowledgement that is not due.
func TestUnackedFull(t *testing.T) {
	k, book := newUnackedBuffer(), delivery.AckTracker{}
	payload := make([]byte, ring.MaxPayloadBytes)
	add := func(op uint64, n int) bool {
		f := data(op, payload[:n])
		ok := k.reserve(ring.FrameHeaderBytes + n)
		if ok {
			k.add(delivery.At(&f), make([]byte, ring.FrameHeaderBytes), f.Payload, book.Add(&f))
		}
		return ok
	}
	add(0, delivery.AckBytes/2) // no acknowledgement is due
	add(1, ring.MaxPayloadBytes)
	added := make(chan bool)
	go func() { added <- add(2, 1) }()
	for !k.hasReservation() {
		k.bounds() // takes the lock, which lets the other goroutine run
	}
	select {
	case <-added:
		t.Fatal("there is room beyond the bound")
	default:
	}
	if err := k.drop(delivery.Position{Op: 1}); err != nil {
		t.Error(err)
	}
	if !<-added {
		t.Error("no room after an acknowledgement")
	}
	go func() { added <- add(3, ring.MaxPayloadBytes) && add(4, 1) }()
	k.close()
	if <-added {
		t.Error("room after the end")
	}
}

// TestUnackedEarly verifies that the acknowledgement of a frame that AckTracker has recorded
// and the buffer does not have yet is an error. A lying neighbour must not end the process.
func TestUnackedEarly(t *testing.T) {
	k := newUnackedBuffer()
	f := data(0, make([]byte, delivery.AckBytes))
	k.reserve(ring.FrameHeaderBytes + len(f.Payload))
	s := sender{unacked: k}
	if !s.sent.Add(&f) {
		t.Fatal("no acknowledgement is due")
	}
	if err := s.handleAck(&ring.Frame{Kind: ring.KindAck, Op: f.Op, Segment: f.Segment}); !errors.Is(err, ring.ErrCorruptFrame) {
		t.Errorf("error %v, want ring.ErrCorruptFrame", err)
	}
}
