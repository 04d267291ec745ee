package tcplink

import (
	"io"
	"sync"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
)

// whole is the payload of a frame that no link takes whole while the neighbour does not receive.
var whole = make([]byte, ring.MaxPayloadBytes)

// TestPromptGoodbye verifies that Close writes no goodbye inside a partial frame: the
// neighbour would take it for payload.
func TestPromptGoodbye(t *testing.T) {
	s, _, right := stage(t, Config{})
	if s.Link.(ring.PromptLink).TrySend(data(0, whole)) {
		t.Fatal("the frame is sent, although no rank receives")
	}
	s.Link.Close()
	got, _ := io.ReadAll(right)
	want := linktest.Bytes(data(0, whole), true)
	if len(got) > len(want) || string(got) != string(want[:len(got)]) { // package net writes no byte of it
		t.Errorf("%d bytes are not the first ones of the frame", len(got))
	}
}

// TestPromptAck verifies the order of an acknowledgement that becomes due while a frame is
// partly sent. The acknowledgement must not be inside the frame, and must not wait for
// TrySend: the neighbour may wait for it.
func TestPromptAck(t *testing.T) {
	links := openShared(t, 2, Config{PayloadCRC: true, Repair: true})
	begun := data(0, whole)
	if links[0].(ring.PromptLink).TrySend(begun) {
		t.Fatal("the frame is sent, although no rank receives")
	}
	var all sync.WaitGroup
	all.Go(func() {
		if f, err := links[1].Recv(t.Context(), make([]byte, len(whole))); err != nil || f.Op != 0 {
			t.Errorf("received operation %d, %v, want 0", f.Op, err)
		}
	})
	const frames = 12 // more than the unacked buffer holds
	all.Go(func() {
		for op := range uint64(frames) {
			if err := links[1].Send(t.Context(), data(op, whole[:1<<20])); err != nil {
				t.Errorf("send %d: %v", op, err)
			}
		}
	})
	for op := range uint64(frames) {
		if f, err := links[0].Recv(t.Context(), make([]byte, 1<<20)); err != nil || f.Op != op {
			t.Fatalf("received operation %d, %v, want %d", f.Op, err, op)
		}
	}
	all.Wait()
	if err := links[0].Send(t.Context(), begun); err != nil {
		t.Errorf("send of the rest: %v", err)
	}
	if err := links[0].Send(t.Context(), data(frames, nil)); err != nil { // the next frame follows directly
		t.Error(err)
	}
	if f, err := links[1].Recv(t.Context(), nil); err != nil || f.Op != frames {
		t.Errorf("received operation %d, %v, want %d", f.Op, err, frames)
	}
}

// TestPromptAllocates verifies that neither a frame that is sent at once nor one that is
// sent in parts allocates memory.
func TestPromptAllocates(t *testing.T) {
	for _, c := range []Config{{PayloadCRC: true}, {Spin: DefaultSpin}, {PayloadCRC: true, Repair: true}} {
		for _, shared := range []bool{false, true} {
			open := func() []ring.Link {
				if shared {
					return openShared(t, 2, c)
				}
				return openRing(t, 2, c)
			}
			links := open()
			links[0] = linktest.WithTrySend(links[0])
			if got := linktest.Allocations(t, links, 128<<10); got != 0 {
				t.Errorf("shared=%v: %v allocations per frame with %+v, want 0", shared, got, c)
			}
			if got := allocationsOfRest(t, open()); got != 0 {
				t.Errorf("shared=%v: %v allocations per rest of a frame with %+v, want 0", shared, got, c)
			}
		}
	}
}

// allocationsOfRest is linktest.Allocations for a frame that is sent in two parts.
func allocationsOfRest(t *testing.T, links []ring.Link) float64 {
	turn, into := make(chan uint64), make([]byte, len(whole))
	var receiving sync.WaitGroup
	receiving.Go(func() {
		for range turn {
			if _, err := links[1].Recv(t.Context(), into); err != nil {
				t.Error(err)
			}
		}
	})
	defer receiving.Wait()
	defer close(turn)
	op := uint64(0)
	return testing.AllocsPerRun(12, func() { // AckTracker grows in the first runs
		f := data(op, whole)
		if links[0].(ring.PromptLink).TrySend(f) {
			t.Error("the frame is sent, although no rank receives")
		}
		turn <- op
		if err := links[0].Send(t.Context(), f); err != nil {
			t.Error(err)
		}
		op++
	})
}

// TestIdleRepaired verifies that a receiver calls the idle function during a repair and
// after it.
func TestIdleRepaired(t *testing.T) {
	const n = 1000
	for _, shared := range []bool{false, true} {
		for _, at := range []int{1, ring.FrameHeaderBytes + n, ring.FrameHeaderBytes + n + 50} {
			links, _, _ := couple(t, Config{Spin: DefaultSpin}, shared, dialFaulty(fault{writes: helloBytes + proofBytes + at}))
			stuck := time.AfterFunc(30*time.Second, func() { links[0].Close(); links[1].Close() })
			if err := linktest.CheckIdle(t.Context(), links[0], links[1].(ring.PromptLink), 4, n); err != nil {
				t.Errorf("shared=%v, broken after %d bytes: %v", shared, at, err)
			}
			stuck.Stop()
			links[0].Close()
			links[1].Close()
		}
	}
}
