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

// TestConformance verifies that rings and routes in memory are links.
func TestConformance(t *testing.T) {
	linktest.Run(t, func(_ *testing.T, p int) []ring.Link { return memlink.Ring(p) })
	linktest.Routes(t, func(_ *testing.T, routes [][]ring.Route) [][]ring.Link { return memlink.Open(routes) })
}

// TestBadRoutes verifies that routes that do not fit together panic: a test would wait for a
// frame that no rank sends.
func TestBadRoutes(t *testing.T) {
	for name, routes := range map[string][][]ring.Route{
		"to none":   {{{To: 1, From: -1}}, {}},
		"from none": {{}, {{To: -1, From: 0}}},
		"twice":     {{{To: 1, From: -1}, {To: 1, From: -1}}, {{To: -1, From: 0}}},
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

// TestInBubble verifies that a waiting rank is durably blocked. Else the clock of a bubble
// would stand still.
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

// TestAlone verifies that a single rank is its own neighbour.
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

// TestAllocatesNothing verifies that a frame does not allocate: allocations would distort the
// benchmarks over this link.
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
	for range 10 { // each slot grows to its size
		pass()
	}
	if n := testing.AllocsPerRun(100, pass); n != 0 {
		t.Errorf("%v allocations per frame, want 0", n)
	}
}
