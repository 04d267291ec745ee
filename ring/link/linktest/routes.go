package linktest

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"ringtrain/ring"
)

// Routes verifies the links that open returns for each rank's routes, by rank and route. One
// case uses the links of one call, which are closed at its end.
func Routes(t *testing.T, open func(t *testing.T, routes [][]ring.Route) [][]ring.Link) {
	both := func(stream uint8, peer int) ring.Route { return ring.Route{Stream: stream, To: peer, From: peer} }
	shared := func(stream uint8, peer int) ring.Route {
		return ring.Route{Stream: stream, To: peer, From: peer, Shared: true}
	}
	none := ring.Route{Stream: 9, To: -1, From: -1}
	cases := []struct {
		name   string
		routes [][]ring.Route
	}{
		{"routes=pair", [][]ring.Route{{both(ring.StreamRounds, 1)}, {both(ring.StreamRounds, 0)}}},
		{"routes=shared", [][]ring.Route{{shared(ring.StreamRounds, 1), both(2, 1)}, {both(2, 0), shared(ring.StreamRounds, 0)}}},
		{"routes=several streams", [][]ring.Route{
			{both(0, 1), both(1, 1), both(2, 1), both(ring.StreamAcross, 1), both(ring.StreamHops, 1)},
			{both(ring.StreamHops, 0), both(2, 0), both(0, 0), both(1, 0), both(ring.StreamAcross, 0)}, // in another order
		}},
		{"routes=one way", [][]ring.Route{{{To: 1, From: -1}, {Stream: 1, To: -1, From: 2}}, {{To: -1, From: 0}}, {{Stream: 1, To: 0, From: -1}}}},
		{"routes=none", [][]ring.Route{{none, both(3, 1)}, {both(3, 0), none}, {none}}},
		{"routes=ring and rounds", meshRoutes(4)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			links := open(t, c.routes)
			stuck := time.AfterFunc(testTimeout, func() { CloseAll(links) })
			defer CloseAll(links)
			defer stuck.Stop()
			if err := Exchange(c.routes, links); err != nil {
				t.Error(err)
			}
		})
	}
}

// RingRoutes returns the routes of a ring of p ranks, by rank.
func RingRoutes(p int) [][]ring.Route {
	routes := make([][]ring.Route, p)
	for rank := range routes {
		routes[rank] = []ring.Route{{Stream: ring.StreamRing, To: (rank + 1) % p, From: (rank + p - 1) % p}}
	}
	return routes
}

// CloseAll closes all links at the same time, as workers do: Close of one may wait for
// another.
func CloseAll(links [][]ring.Link) {
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

// meshRoutes returns the ring of p ranks, a power of two, and the rounds of
// recursive doubling.
func meshRoutes(p int) [][]ring.Route {
	routes := RingRoutes(p)
	for rank := range routes {
		for k := 0; 1<<k < p; k++ {
			peer := rank ^ 1<<k
			routes[rank] = append(routes[rank], ring.Route{Stream: ring.StreamRounds + uint8(k), To: peer, From: peer, Shared: k%2 == 0})
		}
	}
	return routes
}

// Exchange sends and receives over all links at the same time. It returns an error if a route
// without ends has a link or a route with one has none, if frames arrive on the link of
// another route or from the wrong rank, or if links wait for each other.
func Exchange(routes [][]ring.Route, links [][]ring.Link) error {
	var g errgroup.Group
	for rank, list := range routes {
		for i, r := range list {
			l := links[rank][i]
			if joined := r.To >= 0 || r.From >= 0; joined != (l != nil) {
				return fmt.Errorf("rank %d, route %+v: link is %v", rank, r, l)
			}
			if r.To >= 0 {
				g.Go(func() error { return sendOn(l, rank, r) })
			}
			if r.From >= 0 {
				g.Go(func() error { return receiveOn(l, rank, r) })
			}
		}
	}
	return g.Wait()
}

// framesPerRoute is the number of frames per route. Their payloads name sender and stream.
const framesPerRoute = 8

func exchangedFrame(from int, stream uint8, i int) ring.Frame {
	f := frame(i, payload(from<<6|int(stream), i, 1<<(2*i)))
	f.Stream = stream
	return f
}

func sendOn(l ring.Link, rank int, r ring.Route) error {
	for i := range framesPerRoute {
		if err := l.Send(context.Background(), exchangedFrame(rank, r.Stream, i)); err != nil {
			return fmt.Errorf("rank %d, route %+v: send %d: %w", rank, r, i, err)
		}
	}
	return nil
}

func receiveOn(l ring.Link, rank int, r ring.Route) error {
	into := make([]byte, 1<<(2*framesPerRoute))
	for i := range framesPerRoute {
		got, err := l.Recv(context.Background(), into)
		if err == nil {
			err = equal(got, exchangedFrame(r.From, r.Stream, i))
		}
		if err != nil {
			return fmt.Errorf("rank %d, route %+v: receive %d: %w", rank, r, i, err)
		}
	}
	return nil
}
