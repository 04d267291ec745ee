// Package ringtest runs tests of code that uses a ring.Group: a function once per rank over
// links in memory, with faults at given frames.
package ringtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"ringtrain/ring"
	"ringtrain/ring/link/memlink"
)

// Generation is the generation of the groups that Run makes.
const Generation = 1

// Membership returns the membership of a rank among p workers on one host.
func Membership(p, rank int) ring.Membership {
	m := ring.Membership{JobID: "test", Generation: Generation, Rank: rank}
	for r := range p {
		m.Workers = append(m.Workers, ring.Worker{
			Rank: r, Host: fmt.Sprintf("host%d", r), HostID: "host", Addr: fmt.Sprintf("memory:%d", r), Incarnation: uint64(r) + 1,
		})
	}
	return m
}

// Run calls fn once per rank, on p goroutines, each with its group over links in memory. When all
// calls have returned, Run closes the groups. It reports an error of fn with its rank and ends
// the other groups. It fails t if a goroutine is left. It works inside and outside
// testing/synctest, but not beside parallel tests.
func Run(t testing.TB, p int, cfg ring.Config, fn func(g *ring.Group) error) {
	t.Helper()
	RunOver(t, memlink.Ring(p), cfg, fn)
}

// RunOver is Run over the given links, by rank. The groups close them.
func RunOver(t testing.TB, links []ring.Link, cfg ring.Config, fn func(g *ring.Group) error) {
	t.Helper()
	over := make([]ring.Transport, len(links))
	for rank, link := range links {
		over[rank].Ring = link
	}
	run(t, over, func(rank int) ring.Membership { return Membership(len(links), rank) }, cfg, fn)
}

// RunAs is Run for the given memberships, by rank.
func RunAs(t testing.TB, members []ring.Membership, cfg ring.Config, fn func(g *ring.Group) error) {
	t.Helper()
	over := make([]ring.Transport, len(members))
	for rank, link := range memlink.Ring(len(members)) {
		over[rank].Ring = link
	}
	run(t, over, func(rank int) ring.Membership { return members[rank] }, cfg, fn)
}

// run is Run over the given transports, by rank. The groups close them.
func run(t testing.TB, over []ring.Transport, member func(rank int) ring.Membership, cfg ring.Config, fn func(g *ring.Group) error) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancelCause(context.Background())
	groups, errs := make([]*ring.Group, len(over)), make([]error, len(over))
	var all sync.WaitGroup
	for rank := range over {
		all.Go(func() { groups[rank], errs[rank] = ring.New(ctx, member(rank), over[rank], cfg) })
	}
	all.Wait()
	for rank, err := range errs {
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
	}
	for rank, g := range groups {
		all.Go(func() {
			errs[rank] = errors.New("the function has not returned")
			defer func() {
				if errs[rank] != nil {
					cancel(fmt.Errorf("rank %d has failed: %w", rank, errs[rank]))
				}
			}()
			errs[rank] = fn(g)
		})
	}
	all.Wait()
	for rank, g := range groups {
		if errs[rank] != nil {
			t.Errorf("rank %d: %v", rank, errs[rank])
		}
		if err := g.Close(); err != nil {
			t.Errorf("rank %d: close: %v", rank, err)
		}
	}
	cancel(nil)
	if err := goleak.Find(before); err != nil {
		t.Error(err)
	}
}
