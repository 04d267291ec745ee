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

// TestKept sends frames of random sizes, acknowledges and goes back, all at random.
// It fails if what would be sent again is not byte for byte what was sent, or if
// more is kept than is under way.
func TestKept(t *testing.T) {
	const seed = 1
	rnd := rand.New(rand.NewPCG(seed, 0))
	payload := make([]byte, 1<<20)
	for i := range payload {
		payload[i] = byte(rnd.Uint32())
	}
	var (
		k     = newKept()
		book  delivery.Sent
		count delivery.Received
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
		for len(wire) > 0 && (rnd.IntN(3) > 0 || k.size() > keepBytes-2<<20) {
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
		count = delivery.Received{}
		a, b, err := k.rewind(next, &book)
		var want []byte
		for _, f := range wire {
			want = append(want, linktest.Bytes(f, true)...)
		}
		if err != nil || !bytes.Equal(append(bytes.Clone(a), b...), want) {
			t.Fatalf("seed %d, frame %d: %d bytes, %v, want %d that were sent and have not arrived", seed, i, len(a)+len(b), err, len(want))
		}
	}
	if n := len(k.memory); n > 2*keepBytes {
		t.Errorf("%d bytes of memory, want at most %d", n, 2*keepBytes)
	}
}

// TestKeptFull fails if a sender drops what may have to be sent again, or waits for
// an acknowledgement that is not due.
func TestKeptFull(t *testing.T) {
	k, book := newKept(), delivery.Sent{}
	payload := make([]byte, ring.MaxPayloadBytes)
	add := func(op uint64, n int) bool {
		f := data(op, payload[:n])
		ok := k.reserve(ring.FrameHeaderBytes + n)
		if ok {
			k.add(delivery.At(&f), make([]byte, ring.FrameHeaderBytes), f.Payload, book.Add(&f))
		}
		return ok
	}
	add(0, delivery.AckBytes/2) // none is due
	add(1, ring.MaxPayloadBytes)
	added := make(chan bool)
	go func() { added <- add(2, 1) }()
	for !k.busy() {
		k.span() // lets the other one run
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
	k.end()
	if <-added {
		t.Error("room after the end")
	}
}

// TestKeptEarly acknowledges a frame that is in the book and not yet kept. If it
// fails, a neighbour that lies ends the process.
func TestKeptEarly(t *testing.T) {
	k := newKept()
	f := data(0, make([]byte, delivery.AckBytes))
	k.reserve(ring.FrameHeaderBytes + len(f.Payload))
	s := sender{kept: k}
	if !s.sent.Add(&f) {
		t.Fatal("no acknowledgement is due")
	}
	if err := s.acknowledged(&ring.Frame{Kind: ring.KindAck, Op: f.Op, Segment: f.Segment}); !errors.Is(err, ring.ErrCorruptFrame) {
		t.Errorf("error %v, want ring.ErrCorruptFrame", err)
	}
}
