package join

import (
	"fmt"
	"sync"
	"testing"

	"ringtrain/ring/launch/place"
)

// TestGather verifies that workers join without links, at a rendezvous of its own and at
// rank 0, and leave nothing behind.
func TestGather(t *testing.T) {
	noLeak(t)
	const size = 3
	alone, _ := aloneCrew(t, size)
	for at, c := range map[string]*crew{"alone": alone, "served": servedCrew(t, size), "nobody": {places: []place.Place{{WorldSize: 1}}}} {
		var all sync.WaitGroup
		for _, p := range c.places {
			all.Go(func() {
				if err := c.gather(t, p); err != nil {
					t.Errorf("rendezvous=%s: rank %d: %v", at, p.Rank, err)
				}
			})
		}
		all.Wait()
	}
}

// gather is the life of a worker that only meets the others.
func (c *crew) gather(t *testing.T, p place.Place) error {
	g, err := Gather(t.Context(), p, c.config)
	if err != nil {
		return err
	}
	if m := g.Membership(); m.Size() != p.WorldSize || m.Rank != p.Rank || (g.Links() == nil) != (p.WorldSize == 1) || g.Context().Err() != nil {
		return fmt.Errorf("is rank %d of %d, links %v, %v", m.Rank, m.Size(), g.Links(), g.Context().Err())
	}
	if err := g.Leave(g.Context()); err != nil {
		return err
	}
	return g.Close()
}
