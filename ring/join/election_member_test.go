package join

import (
	"testing"

	"ringtrain/ring/rendezvous"
)

// TestElectedMembers verifies that a worker that has met the others by an election says so to
// a caller with the token, with or without the rendezvous. It also verifies that a worker that
// has not met them does not.
func TestElectedMembers(t *testing.T) {
	c, o := electedCrew(3)
	fresh, err := openWorkerEndpoint(c.places[1], c.config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(fresh.close)
	teams := c.meetAll(t)
	o.coordinator(teams)
	look := rendezvous.StatusOptions{Token: c.config.Token, JobID: "j"}
	for rank, w := range teams[0].Group.Membership().Workers {
		if is, err := rendezvous.IsMember(t.Context(), w, look); !is || err != nil {
			t.Errorf("rank %d is a member: %v, %v", rank, is, err)
		}
	}
	w := teams[0].Group.Membership().Workers[1]
	w.Addr = fresh.port.Addr()
	if is, err := rendezvous.IsMember(t.Context(), w, look); is || err != nil {
		t.Errorf("a worker that has not met the others is a member: %v, %v", is, err)
	}
	onAll(t, teams, func(_ int, team *Team) error { return team.Leave(t.Context()) })
}
