package join

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/launch/place"
	"ringtrain/ring/rendezvous"
)

// TestMeet verifies that four workers meet at a rendezvous of its own and at rank 0, sum
// over either link on the one port, and leave nothing behind.
func TestMeet(t *testing.T) {
	noLeak(t)
	const size = 4
	places := map[string]func(*testing.T) *crew{
		"alone":  func(t *testing.T) *crew { c, _ := aloneCrew(t, size); return c },
		"served": func(t *testing.T) *crew { return servedCrew(t, size) },
		"listed": func(t *testing.T) *crew { return listedCrew(t, size) },
		"unranked": func(t *testing.T) *crew {
			c, _ := aloneCrew(t, size)
			for i := range c.places {
				c.places[i].Rank = -1
			}
			return c
		},
	}
	for at, make := range places {
		t.Run("rendezvous="+at, func(t *testing.T) {
			c := make(t)
			c.config.Link = "tcp"
			onAll(t, c.meetAll(t), func(i int, team *Team) error { return c.live(i, team) })
		})
	}
}

// live is the life of rank i, or of the i-th worker if ranks are given.
func (c *crew) live(i int, team *Team) error {
	p, m := c.places[i], team.Group.Membership()
	if m.Size() != len(c.places) || p.Rank >= 0 && m.Rank != i || team.Link != c.config.Link || team.Rendezvous != p.Rendezvous {
		return fmt.Errorf("is rank %d of %d, link %s, rendezvous %s", m.Rank, m.Size(), team.Link, team.Rendezvous)
	}
	for rank, w := range m.Workers {
		if p.Listed != nil && w.Addr != p.Listed[rank] {
			return fmt.Errorf("rank %d is known as %s, want the configured %s", rank, w.Addr, p.Listed[rank])
		}
		if p.Listed == nil && !strings.HasPrefix(w.Addr, "127.0.0.1:") || strings.HasSuffix(w.Addr, ":0") {
			return fmt.Errorf("rank %d is known as %s, want its port of 127.0.0.1", rank, w.Addr)
		}
	}
	team.Progress(1, "summing")
	buf := []float32{float32(int(1) << m.Rank), 1}
	if err := team.Group.AllReduce(team.Context(), ring.Reduction{Buf: buf}); err != nil {
		return err
	}
	if int(buf[0]) != 1<<m.Size()-1 || int(buf[1]) != m.Size() {
		return fmt.Errorf("sum is %v", buf)
	}
	if err := team.Leave(team.Context()); err != nil {
		return err // also if rank 0, which has the rendezvous, was faster
	}
	return team.Close()
}

// TestMeetDrains verifies that the server of the rendezvous stays until the slowest worker
// has been told the good end.
func TestMeetDrains(t *testing.T) {
	noLeak(t)
	c := servedCrew(t, 3)
	slow := newSluice(t, c.places[0].Rendezvous)
	c.places[2].Rendezvous = slow.addr()
	teams := c.meetAll(t)
	left := make(chan error, 1)
	slow.shut.Lock() // messages to rank 2 are delayed from here on
	go func() { left <- teams[2].Leave(t.Context()) }()
	onAll(t, teams[:2], func(_ int, team *Team) error { return team.Leave(t.Context()) })
	closed := make(chan struct{})
	go func() {
		teams[0].Close()
		close(closed)
	}()
	select {
	case <-closed:
		t.Error("rank 0 has closed the rendezvous before rank 2 has heard the end")
	case <-time.After(50 * time.Millisecond): // does not prove the wait, but shows a Leave that does not wait
	}
	slow.shut.Unlock()
	if err := <-left; err != nil {
		t.Errorf("rank 2: %v", err)
	}
	<-closed
}

// TestMeetAlone verifies that world size 1 needs no network, and that its session behaves
// as that of a team.
func TestMeetAlone(t *testing.T) {
	noLeak(t)
	before := sockets(t)
	meet := func() *Team {
		team, err := Meet(t.Context(), place.Place{WorldSize: 1, JobID: "j"}, Config{Group: ring.DefaultConfig()})
		if err != nil {
			t.Fatal(err)
		}
		return team
	}
	team := meet()
	if n := sockets(t) - before; n != 0 {
		t.Errorf("%d sockets were opened, want none", n)
	}
	if m := team.Group.Membership(); m.Size() != 1 || m.JobID != "j" || team.Link != "none" || team.Rendezvous != "" {
		t.Errorf("membership %+v, link %s, rendezvous %q", m, team.Link, team.Rendezvous)
	}
	team.Progress(1, "training")
	if err := errors.Join(team.Leave(t.Context()), context.Cause(team.Context()), team.Close(), team.Close()); err != nil {
		t.Errorf("clean end: %v", err)
	}
	if !errors.Is(context.Cause(team.Context()), ring.ErrGenerationEnded) {
		t.Errorf("context after Close: %v, want ring.ErrGenerationEnded", context.Cause(team.Context()))
	}
	team = meet()
	defer team.Close()
	first := &ring.Cause{Step: 7, Text: "loss is NaN", ExitCode: exitcode.NotFinite}
	for _, c := range []*ring.Cause{first, {Text: "symptom", ExitCode: 1}} {
		if got := team.Abort(c); got != first {
			t.Errorf("aborting with %v gives %v, want the first cause", c, got)
		}
	}
	for _, err := range []error{context.Cause(team.Context()), team.Leave(t.Context())} {
		if !errors.Is(err, ring.ErrGenerationEnded) || !errors.Is(err, first) || exitcode.Of(err) != exitcode.NotFinite {
			t.Errorf("after an abort: %v (code %d), want the cause with its code", err, exitcode.Of(err))
		}
	}
}

// sockets counts those of this process.
func sockets(t *testing.T) int {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0 // this system has no list of descriptors
	}
	all, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, fd := range all {
		if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// TestReportOptions verifies that a worker which reports a fault gives no address: it does
// not listen, and port 1 has nobody to answer.
func TestReportOptions(t *testing.T) {
	o := reportOptions(place.Place{Rank: 1, WorldSize: 2, Rendezvous: "node1:29500", Listen: ":0"}, Config{})
	if o.Self.Addr != noListenAddr || o.Waiting != nil {
		t.Errorf("a report has address %s, want %s", o.Self.Addr, noListenAddr)
	}
}

var _ session = (*rendezvous.Session)(nil)
