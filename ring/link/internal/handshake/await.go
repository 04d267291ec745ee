package handshake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"ringtrain/ring"
)

// maxGuests is how many connections may shake hands at the same time. What is
// beyond is closed; a worker dials again.
const maxGuests = 64

// Guest is a connection that has come from somebody.
type Guest interface {
	// From returns the address that it came from.
	From() string

	// Shake does the acceptor's part over the connection, within a time of its
	// own and ctx.
	Shake(ctx context.Context, part func(Conn) error) error

	Close() error
}

// await waits for all of from among the guests that next delivers, and returns
// them in that order. Each shakes hands in a goroutine of its own, so that one
// that is silent holds up nobody; all have ended, and all but those waited for
// are closed, when await returns. next must return when its context ends.
//
// If ctx ends first, those who have come are closed too, and the errors are one
// for each who has not: a *ring.PeerError with Op "accept" that tells who came
// instead (exitcode.Retry). An error of next that is not the end of its context is
// returned as it is.
func await[G Guest](ctx context.Context, p Party, from []Peer, next func(context.Context) (G, error)) ([]G, []error) {
	if len(from) == 0 {
		return nil, nil
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	h := host[G]{party: p, places: make(chan struct{}, maxGuests), full: stop, from: from, here: map[Peer]G{}}
	var broken error
	for waiting.Err() == nil {
		g, err := next(waiting)
		if err == nil {
			h.receive(waiting, g)
		} else if waiting.Err() == nil {
			broken = err
			stop()
		}
	}
	h.shaking.Wait()
	if len(h.here) == len(from) {
		guests := make([]G, len(from))
		for i, peer := range from {
			guests[i] = h.here[peer]
		}
		return guests, nil
	}
	for _, g := range h.here {
		g.Close()
	}
	if broken != nil {
		return nil, []error{broken}
	}
	return nil, h.missing(ctx)
}

// host receives guests and keeps those that it waits for.
type host[G Guest] struct {
	party    Party
	places   chan struct{} // one for each guest
	shaking  sync.WaitGroup
	visitors visitors
	full     func() // ends the wait
	from     []Peer

	mu   sync.Mutex
	here map[Peer]G
}

// receive shakes hands with g in a goroutine of its own.
func (h *host[G]) receive(ctx context.Context, g G) {
	select {
	case h.places <- struct{}{}:
	default:
		h.visitors.refused(g.From(), errors.New("too many connections at once"))
		g.Close()
		return
	}
	h.shaking.Go(func() {
		defer func() { <-h.places }()
		var peer Peer
		err := g.Shake(ctx, func(c Conn) (err error) {
			peer, err = h.party.Accept(c, h.admit)
			return err
		})
		if err == nil {
			err = h.keep(peer, g)
		}
		if err == nil {
			return
		}
		if ctx.Err() == nil {
			h.visitors.refused(g.From(), err)
		}
		g.Close()
	})
}

// admit tells why nobody waits for peer, or nil.
func (h *host[G]) admit(peer Peer) error {
	if slices.Contains(h.from, peer) {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.twice(peer)
	}
	var ranks, streams []string
	for _, want := range h.from {
		ranks = append(ranks, fmt.Sprint(want.Rank))
		if want.Rank == peer.Rank {
			streams = append(streams, fmt.Sprint(want.Stream))
		}
	}
	if len(streams) > 0 {
		return fmt.Errorf("stream is %d, want %s", peer.Stream, oneOf(streams))
	}
	return fmt.Errorf("from rank is %d, want %s", peer.Rank, oneOf(ranks))
}

// twice tells that peer is here already, if it is. h.mu is held.
func (h *host[G]) twice(peer Peer) error {
	if _, ok := h.here[peer]; ok {
		return fmt.Errorf("rank %d has joined already (stream %d)", peer.Rank, peer.Stream)
	}
	return nil
}

// keep takes g for peer's connection, if none was taken before.
func (h *host[G]) keep(peer Peer, g G) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.twice(peer); err != nil {
		return err
	}
	h.here[peer] = g
	if len(h.here) == len(h.from) {
		h.full()
	}
	return nil
}

// missing returns an error for each who did not come until ctx ended.
func (h *host[G]) missing(ctx context.Context) []error {
	var errs []error
	for _, peer := range h.from {
		if _, ok := h.here[peer]; !ok {
			errs = append(errs, peerError(opAccept, h.party.worker(peer), h.visitors.instead(ctx)))
		}
	}
	return errs
}

// worker returns who peer is.
func (p Party) worker(peer Peer) ring.Worker { return p.Membership.Workers[peer.Rank] }
