package join

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/rendezvous"
	"ringtrain/ring/ringtest"
)

// errStopped is what a signal before training ends the context with.
var errStopped = exitcode.With(exitcode.Terminated, errors.New("stopped by a signal"))

// TestMeetStopped verifies that a worker that is stopped while it waits ends with its exit
// code, and that the others wait on for it.
func TestMeetStopped(t *testing.T) {
	noLeak(t)
	for _, at := range []string{"alone", "served", "nowhere"} {
		for _, stopped := range []int{0, 1} {
			t.Run(fmt.Sprintf("rendezvous=%s/rank=%d", at, stopped), func(t *testing.T) {
				t.Parallel()
				c := servedCrew(t, 3)
				switch at {
				case "alone":
					c.places[0].Serve, c.places[0].Listen = false, "127.0.0.1:0"
					serveAlone(t, c, 0)
				case "nowhere":
					c.places[0].Serve = false
				}
				c.stop(t, stopped, at != "nowhere")
			})
		}
	}
}

// stop stops a rank that waits for another, and lets it come again.
func (c *crew) stop(t *testing.T, rank int, again bool) {
	t.Helper()
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, errStopped)
	defer cancel()
	first := c.meet(ctx, t, rank)
	if !again {
		wasStopped(t, first()[0])
		return
	}
	other := c.meet(t.Context(), t, 1-rank)
	wasStopped(t, first()[0])
	for _, m := range append(c.meet(t.Context(), t, rank, 2)(), other()...) {
		if m.err != nil {
			t.Errorf("rank %d: %v; want it to meet rank %d, which has come again", m.rank, m.err, rank)
		}
	}
}

func wasStopped(t *testing.T, m met) {
	t.Helper()
	if exitcode.Of(m.err) != exitcode.Terminated || !strings.Contains(fmt.Sprint(m.err), "stopped by a signal") || m.took > prompt {
		t.Errorf("rank %d ends after %v with %v (code %d), want the context's cause at once", m.rank, m.took, m.err, exitcode.Of(m.err))
	}
}

// TestMeetStoppedBefore verifies that Meet does nothing after the end of its context.
func TestMeetStoppedBefore(t *testing.T) {
	noLeak(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errStopped)
	for _, p := range []place.Place{{WorldSize: 1}, {WorldSize: 2, Rendezvous: "127.0.0.1:1", Listen: "127.0.0.1:0"}} {
		if team, err := Meet(ctx, p, Config{Group: ring.DefaultConfig()}); team != nil || !errors.Is(err, errStopped) {
			t.Errorf("world size %d: %v, want the context's cause", p.WorldSize, err)
		}
	}
}

// TestMeetStoppedLinking verifies that a worker that is stopped while it opens its links
// does not blame its neighbour.
func TestMeetStoppedLinking(t *testing.T) {
	noLeak(t)
	c := listedCrew(t, 3)
	c.config.Link = "tcp"
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	silent.(*net.TCPListener).SetDeadline(time.Now().Add(10 * time.Second))
	c.misplace(2, silent.Addr().String())
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	one, others := c.meet(ctx, t, 1), c.meet(t.Context(), t, 0, 2)
	for range 2 { // ranks 0 and 1 dial rank 2
		conn, err := silent.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	cancel(errStopped)
	endsWith(t, told(append(one(), others()...)), exitcode.Terminated, 1, "stopped by a signal")
}

// told waits for the end of the teams whose own links stand.
func told(all []met) []met {
	for i, m := range all {
		if m.err == nil {
			<-m.team.Context().Done()
			all[i].err = context.Cause(m.team.Context())
		}
	}
	return all
}

// misplace makes all believe that a rank is at addr.
func (c *crew) misplace(rank int, addr string) {
	listed := slices.Clone(c.places[0].Listed)
	listed[rank] = addr
	for i := range c.places {
		c.places[i].Listed = listed
	}
}

// If this failed, two workers that cannot reach each other would not be named
// as a pair, with the reason, on all ranks; or somebody would wait on.
func testUnreachable(t *testing.T) {
	tests := []struct {
		size, lost int
		link       string
		pairs      []string
	}{
		{4, 2, "tcp", []string{"link 1 -> 2 at ", "link 0 -> 2 at ", "link 3 -> 2 at "}},
		{2, 1, "tcp", []string{"link 0 -> 1 at "}}, // rank 1 dials without error and yields
	}
	var started []func() []met
	for _, tt := range tests { // in parallel: the cases mostly wait
		c := listedCrew(t, tt.size)
		c.config.StartTimeout, c.config.Link = 500*time.Millisecond, tt.link
		c.misplace(tt.lost, ringtest.RefusedAddress(t))
		started = append(started, c.meet(t.Context(), t, c.ranks()...))
	}
	for i, tt := range tests {
		t.Run(fmt.Sprintf("world=%d/link=%s", tt.size, tt.link), func(t *testing.T) {
			for _, m := range told(started[i]()) {
				pair := func(words string) bool { return strings.Contains(m.err.Error(), words) }
				if !slices.ContainsFunc(tt.pairs, pair) {
					t.Errorf("rank %d: %v, want one of %q in it", m.rank, m.err, tt.pairs)
				}
				endsWith(t, []met{m}, exitcode.Retry, tt.lost, "connection refused", "gave up after 500ms")
			}
		})
	}
}

// lost checks what the survivors learn, and that they say so whatever they
// noticed themselves.
func lost(t *testing.T, teams []*Team, code, rank int, words ...string) {
	t.Helper()
	for _, team := range teams {
		<-team.Context().Done()
		err := context.Cause(team.Context())
		if !errors.Is(err, ring.ErrGenerationEnded) {
			t.Errorf("context ends with %v, want ring.ErrGenerationEnded", err)
		}
		self := team.Group.Membership().Rank
		first := team.Abort(&ring.Cause{Rank: self, Text: "a symptom", ExitCode: exitcode.Failed})
		endsWith(t, []met{{rank: self, err: err}, {rank: self, err: first.WithCode()}}, code, rank, words...)
	}
}

// TestTeamLost verifies that all workers have the first cause, whether a worker has told
// it, is gone, or was found dead.
func TestTeamLost(t *testing.T) {
	noLeak(t)
	tests := []struct {
		name  string
		ends  func(*rendezvous.Server, *Team)
		code  int
		words []string
	}{
		{"worker=aborts", func(_ *rendezvous.Server, team *Team) {
			team.Abort(&ring.Cause{Rank: 2, Step: 7, Text: "loss is NaN", ExitCode: exitcode.NotFinite})
		}, exitcode.NotFinite, []string{"rank 2 at step 7: loss is NaN"}},
		{"worker=closes", func(_ *rendezvous.Server, team *Team) { team.Close() }, exitcode.Retry, []string{"lost rank 2 (", "127.0.0.1:"}},
		{"worker=dies", func(a *rendezvous.Server, _ *Team) { a.Lost(2, "killed by signal 9", exitcode.Retry) }, exitcode.Retry, []string{"rank 2", "killed by signal 9"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, a := aloneCrew(t, 4)
			teams := c.meetAll(t)
			tt.ends(a, teams[2])
			lost(t, slices.Delete(teams, 2, 3), tt.code, 2, tt.words...)
			if err := a.Wait(t.Context()); exitcode.Of(err) != tt.code || !strings.Contains(err.Error(), tt.words[0]) {
				t.Errorf("the rendezvous ends with %v (code %d)", err, exitcode.Of(err))
			}
		})
	}
}

// TestTeamLosesRank0 verifies that after the end of rank 0 with the rendezvous the others end as soon
// as an operation fails, with the address: without a restart nobody comes back there.
func TestTeamLosesRank0(t *testing.T) {
	noLeak(t)
	c := servedCrew(t, 3)
	teams := c.meetAll(t)
	teams[0].port.Close() // like a kill: no message to any worker
	teams[0].server.Close()
	for rank, team := range teams[1:] {
		next, err := team.Next(t.Context(), &ring.Cause{Rank: 0, Text: "link broke", ExitCode: exitcode.Retry})
		if next != nil {
			t.Fatalf("rank %d goes on", rank+1)
		}
		endsWith(t, []met{{rank: rank + 1, err: err}}, exitcode.Retry, 0, "lost rank 0 with the rendezvous at "+c.places[0].Rendezvous)
	}
}
