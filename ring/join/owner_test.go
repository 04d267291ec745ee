package join

import (
	"io"
	"net"
	"testing"
	"time"

	"ringtrain/ring/port"
)

// ownerOf asks who listens at addr whose port it is.
func ownerOf(t *testing.T, addr string) port.Owner {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(10 * time.Second))
	io.WriteString(c, port.Question)
	said, err := io.ReadAll(c)
	o, ok := port.ParseAnswer(said)
	if !ok {
		t.Fatalf("%s says %q, %v", addr, said, err)
	}
	return o
}

// TestOwner verifies that a port names its owner, before and after all workers have joined.
func TestOwner(t *testing.T) {
	noLeak(t)
	c, a := aloneCrew(t, 2)
	if got, want := ownerOf(t, a.Addr()), (port.Owner{Rendezvous: true, Rank: -1}); got != want {
		t.Errorf("before the first join the rendezvous says %+v, want %+v", got, want)
	}
	place := c.places[1]
	place.JobID = "given"
	early := &Team{config: c.config}
	if err := early.listen(place); err != nil {
		t.Fatal(err)
	}
	if got, want := ownerOf(t, early.port.Addr()), (port.Owner{JobID: "given", Rank: 1}); got != want {
		t.Errorf("before it has joined a worker says %+v, want %+v", got, want)
	}
	early.closePort()
	for i := range c.places {
		c.places[i].Rank = -1
	}
	c.config.Link = "tcp"
	teams := c.meetAll(t)
	m := teams[0].Group.Membership()
	for rank, w := range m.Workers {
		if got, want := ownerOf(t, w.Addr), (port.Owner{JobID: m.JobID, Rank: rank}); got != want {
			t.Errorf("rank %d says %+v, want %+v", rank, got, want)
		}
	}
	if got, want := ownerOf(t, a.Addr()), (port.Owner{Rendezvous: true, JobID: m.JobID, Rank: -1}); got != want {
		t.Errorf("the rendezvous says %+v, want %+v", got, want)
	}
	onAll(t, teams, c.live)
}
