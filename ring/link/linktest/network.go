package linktest

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/token"
)

// Network is a kind of link over sockets. A test runs several workers in one process, each
// with a listener of its own.
type Network interface {
	// Listen makes the listeners of p workers, which last until the end of the test,
	// and returns their addresses by rank. It is called once.
	Listen(t testing.TB, p int) []string

	// Open opens the links of rank m.Rank with its listener.
	Open(ctx context.Context, m ring.Membership, secret token.Token, routes []ring.Route) ([]ring.Link, error)

	// Knock connects to a listener and runs part over the connection, which ends
	// with the test.
	Knock(t testing.TB, addr string, part func(io.ReadWriter) error) error
}

// World returns the memberships of the p workers of a network, by rank. Their
// incarnations are 100 + rank.
func World(t testing.TB, n Network, p int) []ring.Membership {
	t.Helper()
	var workers []ring.Worker
	for rank, addr := range n.Listen(t, p) {
		workers = append(workers, ring.Worker{Rank: rank, Host: "here", Addr: addr, Incarnation: uint64(100 + rank)})
	}
	members := make([]ring.Membership, p)
	for rank := range members {
		members[rank] = ring.Membership{JobID: "job-1", Generation: Generation, Rank: rank, Workers: workers}
	}
	return members
}

// Open opens the links of each rank's routes over a network. They are closed
// after the test.
func Open(t testing.TB, n Network, routes [][]ring.Route) [][]ring.Link {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	members := World(t, n, len(routes))
	links, errs := make([][]ring.Link, len(routes)), make([]error, len(routes))
	var opening sync.WaitGroup
	for rank, list := range routes {
		opening.Go(func() { links[rank], errs[rank] = n.Open(ctx, members[rank], token.Token{}, list) })
	}
	opening.Wait()
	for rank, err := range errs {
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
	}
	t.Cleanup(func() { closeAll(links) })
	return links
}

// OpenRing opens the links of a ring of p ranks. They are closed after the test.
func OpenRing(t testing.TB, n Network, p int) []ring.Link {
	t.Helper()
	links := make([]ring.Link, p)
	for rank, list := range Open(t, n, ringRoutes(p)) {
		links[rank] = list[0]
	}
	return links
}

// ringRoutes returns the routes of a ring of p ranks, by rank.
func ringRoutes(p int) [][]ring.Route {
	routes := make([][]ring.Route, p)
	for rank := range routes {
		routes[rank] = []ring.Route{{Stream: ring.StreamRing, To: (rank + 1) % p, From: (rank + p - 1) % p}}
	}
	return routes
}

// closeAll closes all links at the same time, as workers do: Close of one may wait for
// another.
func closeAll(links [][]ring.Link) {
	var closing sync.WaitGroup
	for _, list := range links {
		for _, l := range list {
			if l != nil {
				closing.Go(func() { l.Close() })
			}
		}
	}
	closing.Wait()
}

// within returns a context that ends after d, or with the test.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}
