package memlink_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
	"ringtrain/ring/link/memlink"
)

func TestConformance(t *testing.T) {
	linktest.Run(t, func(_ *testing.T, p int) []ring.Link { return memlink.Ring(p) })
	linktest.Routes(t, func(_ *testing.T, routes [][]ring.Route) [][]ring.Link { return memlink.Open(routes) })
}

// TestBadRoutes fails if routes that do not fit together are joined all the
// same: a test would wait for ever for a frame that nobody sends.
func TestBadRoutes(t *testing.T) {
	for name, routes := range map[string][][]ring.Route{
		"to nobody":   {{{To: 1, From: -1}}, {}},
		"from nobody": {{}, {{To: -1, From: 0}}},
		"twice":       {{{To: 1, From: -1}, {To: 1, From: -1}}, {{To: -1, From: 0}}},
	} {
		panicked := func() (p bool) {
			defer func() { p = recover() != nil }()
			memlink.Open(routes)
			return false
		}()
		if !panicked {
			t.Errorf("routes=%s: no panic", name)
		}
	}
}

// TestInBubble fails if a rank that waits is not durably blocked: the clock of
// a bubble would stand still.
func TestInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		links := memlink.Ring(2)
		time.AfterFunc(time.Hour, func() { links[1].Close() })
		start := time.Now()
		if _, err := links[0].Recv(t.Context(), nil); err == nil || errors.Is(err, ring.ErrClosed) {
			t.Errorf("receive: error %v, want that the neighbour has closed", err)
		}
		if took := time.Since(start); took != time.Hour {
			t.Errorf("took %v, want 1h", took)
		}
	})
}

// TestAlone fails if a single rank is not its own neighbour.
func TestAlone(t *testing.T) {
	l := memlink.Ring(1)[0]
	if err := l.Send(t.Context(), ring.Frame{Op: 7, Payload: []byte("x")}); err != nil {
		t.Fatal(err)
	}
	f, err := l.Recv(t.Context(), make([]byte, 1))
	if err != nil || f.Op != 7 || string(f.Payload) != "x" {
		t.Errorf("received %+v, %v", f, err)
	}
}

// TestAllocatesNothing fails if a frame costs the garbage collector something:
// the figures of all tests over this link would be wrong.
func TestAllocatesNothing(t *testing.T) {
	l := memlink.Ring(1)[0]
	f, into := ring.Frame{Payload: make([]byte, 1000)}, make([]byte, 1000)
	pass := func() {
		if err := l.Send(t.Context(), f); err != nil {
			t.Fatal(err)
		}
		if _, err := l.Recv(t.Context(), into); err != nil {
			t.Fatal(err)
		}
	}
	for range 10 { // each slot grows once
		pass()
	}
	if n := testing.AllocsPerRun(100, pass); n != 0 {
		t.Errorf("%v allocations per frame, want 0", n)
	}
}
