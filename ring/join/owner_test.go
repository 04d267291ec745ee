package join

import (
	"net"
	"testing"

	"ringtrain/ring/port"
	"ringtrain/ring/token"
)

// ownerOf asks who listens at addr whose port it is.
func ownerOf(t *testing.T, addr string, secret token.Token) port.Owner {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	o, err := port.Ask(t.Context(), c, secret)
	if err != nil {
		t.Fatalf("%s says %v", addr, err)
	}
	return o
}

// TestOwner verifies that a port names its owner, before and after all workers have joined, and then
// also the rendezvous that the owner follows.
func TestOwner(t *testing.T) {
	noLeak(t)
	c, a := aloneCrew(t, 2)
	secret := c.config.Token
	if got, want := ownerOf(t, a.Addr(), secret), (port.Owner{Rendezvous: true, Rank: -1}); got != want {
		t.Errorf("before the first join the rendezvous says %+v, want %+v", got, want)
	}
	place := c.places[1]
	place.JobID = "given"
	early := &Team{config: c.config}
	if err := early.listen(place); err != nil {
		t.Fatal(err)
	}
	if got, want := ownerOf(t, early.port.Addr(), secret), (port.Owner{JobID: "given", Rank: 1, Incarnation: early.self.Incarnation}); got != want {
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
		got, want := ownerOf(t, w.Addr, secret), port.Owner{JobID: m.JobID, Rank: rank, Incarnation: w.Incarnation}
		want.Follows = teams[rank].member.Follows()
		if got != want || want.Follows == 0 || want.Follows != teams[0].member.Follows() {
			t.Errorf("rank %d says %+v, want %+v", rank, got, want)
		}
	}
	if got, want := ownerOf(t, a.Addr(), secret), (port.Owner{Rendezvous: true, JobID: m.JobID, Rank: -1}); got != want {
		t.Errorf("the rendezvous says %+v, want %+v", got, want)
	}
	onAll(t, teams, c.live)
}
