package launch

import (
	"bufio"
	"io"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring/exitcode"
)

// testRelay is host 1, which leads to the hosts 3, 5, 8 by one login and is to
// lead to 9 by another.
func testRelay(up io.Writer) (*relay, *login) {
	g := testLogin()
	r := &relay{host: 1, up: &frameWriter{w: up}, cancel: func() {}, below: map[int]*login{9: nil}}
	r.add(g)
	return r, g
}

// posted takes what is in the outbox.
func (g *login) posted() (list []frame) {
	for len(g.outbox) > 0 {
		list = append(list, <-g.outbox)
	}
	return list
}

// TestRelayDown verifies that frames of the launcher reach their host, or all hosts.
func TestRelayDown(t *testing.T) {
	r, g := testRelay(io.Discard)
	for _, tt := range []struct {
		name   string
		frame  frame
		known  bool
		posted int
	}{
		{"host=first of a login", frame{kindSignal, 3, 0, nil}, true, 1},
		{"host=below that", frame{kindStart, 8, 0, nil}, true, 1},
		{"host=not there yet", frame{kindStart, 9, 0, nil}, true, 0},
		{"host=above", frame{kindStart, 0, 0, nil}, false, 0},
		{"host=unknown", frame{kindStart, 4, 0, nil}, false, 0},
		{"beat", frame{kind: kindBeat}, true, 1}, // one frame, not one for each host
	} {
		known := r.down(tt.frame)
		if got := g.posted(); known != tt.known || len(got) != tt.posted || len(got) > 0 && got[0].host != tt.frame.host {
			t.Errorf("%s: known %v, passed on %v, want %v and %d", tt.name, known, got, tt.known, tt.posted)
		}
	}
	r.remove(g)
	if known := r.down(frame{kindStart, 8, 0, nil}); !known {
		t.Error("a frame to a host that is lost ends the agent")
	}
}

// TestRelayUp verifies that frames from below reach the launcher unchanged.
func TestRelayUp(t *testing.T) {
	out, in := io.Pipe()
	r, _ := testRelay(in)
	book, g := new(logbook), newLogin(branch{{1, "x", 1}, {3, "a", 1}, {5, "b", 1}, {8, "c", 1}}, []string{"true"}, nil)
	g.stages[1] = stageOpen
	go func() {
		r.handleFrame(helloOf(3))
		r.hostsRefused(3, []int{5, 8}, exitcode.With(exitcode.Retry, os.ErrDeadlineExceeded))
		r.hostsLost([]int{3}, "gone")
		r.hostsLost(nil, "nobody")
		in.Close()
	}()
	g.pipes(nil, out)
	if err := g.readFrames(book); err != io.EOF {
		t.Error(err)
	}
	if want := []string{"H 3", "3 refuses [5 8]: i/o timeout", "lost [3]: gone"}; !slices.Equal(*book, want) {
		t.Errorf("the launcher is told %q, want %q", *book, want)
	}
}

// TestRelaySilence verifies that hosts below a silent network end, and that hosts with a
// living launcher do not.
func TestRelaySilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in, launcher := io.Pipe()
		r, g := testRelay(io.Discard)
		a := &agent{in: bufio.NewReader(in), credits: newCredits(), frames: make(chan frame), relay: r, orders: orders{Host: 1}}
		began, took := time.Now(), make(chan time.Duration)
		go func() { a.serve(); took <- time.Since(began) }()
		go func() {
			to := &frameWriter{w: launcher}
			for range 3 {
				time.Sleep(beatInterval)
				to.send(frame{kind: kindBeat})
			}
		}()
		if got, want := <-took, 3*beatInterval+beatTimeout; got != want {
			t.Errorf("the agent ended after %v, want %v", got, want)
		}
		beats := 0
		<-g.leaving // the agents below read the end of their input
		for _, f := range g.posted() {
			if f.kind == kindBeat {
				beats++
			}
		}
		if beats != 3 {
			t.Errorf("%d beats were passed down, want 3", beats)
		}
		launcher.Close()
	})
}
