package handshake

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"ringtrain/ring"
)

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
	h := host[G]{reception: newReception(), party: p, full: stop, from: from, here: map[Peer]G{}}
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
	reception
	party Party
	full  func() // ends the wait
	from  []Peer

	mu   sync.Mutex
	here map[Peer]G
}

// receive lets g in if it is one of those waited for.
func (h *host[G]) receive(ctx context.Context, g G) {
	h.reception.receive(ctx, g, func(c Conn) (keep func() error, err error) {
		peer, err := h.party.Accept(c, h.admit)
		return func() error { return h.keep(peer, g) }, err
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
