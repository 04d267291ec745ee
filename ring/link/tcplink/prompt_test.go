package tcplink

import (
	"io"
	"sync"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
)

// whole is the payload of a frame that no link takes whole while the neighbour does not receive.
var whole = make([]byte, ring.MaxPayloadBytes)

// TestPromptGoodbye verifies that Close writes no goodbye inside a partial frame: the
// neighbour would take it for payload.
func TestPromptGoodbye(t *testing.T) {
	s, _, right := newStage(t)
	if s.Link.TrySend(data(0, whole)) {
		t.Fatal("the frame is sent, although no rank receives")
	}
	s.Link.Close()
	got, _ := io.ReadAll(right)
	want := wireBytes(data(0, whole))
	if len(got) > len(want) || string(got) != string(want[:len(got)]) { // package net writes no byte of it
		t.Errorf("%d bytes are not the first ones of the frame", len(got))
	}
}

// TestPromptAllocates verifies that neither a frame that is sent at once nor one that is
// sent in parts allocates memory.
func TestPromptAllocates(t *testing.T) {
	for _, how := range []mode{local, auth, local.sharing(), auth.sharing()} {
		links := openRing(t, 2, how)
		links[0] = linktest.WithTrySend(links[0])
		if got := allocations(t, links, 128<<10); got != 0 {
			t.Errorf("%v allocations per frame with %+v, want 0", got, how)
		}
		if got := allocationsOfRest(t, openRing(t, 2, how)); got != 0 {
			t.Errorf("%v allocations per rest of a frame with %+v, want 0", got, how)
		}
	}
}

// allocationsOfRest is allocations for a frame that is sent in two parts.
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
	return testing.AllocsPerRun(12, func() {
		f := data(op, whole)
		if links[0].TrySend(f) {
			t.Error("the frame is sent, although no rank receives")
		}
		turn <- op
		if err := links[0].Send(t.Context(), f); err != nil {
			t.Error(err)
		}
		op++
	})
}
