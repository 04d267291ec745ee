package handshake

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"ringtrain/ring"
)

// acceptAll waits for a connection from each peer of from among those that next returns, and
// returns the connections in that order. Each handshake runs in a goroutine of its own, so a
// silent stranger delays no other. When acceptAll returns, all these goroutines have ended
// and all other connections are closed. next must return when its context ends.
//
// If ctx ends first, acceptAll closes all connections and returns one error for each missing
// peer: a *ring.PeerError with Op "accept" and exitcode.Retry, with the last refused
// connection. An error of next before its context ends is returned as it is.
func acceptAll[G Inbound](ctx context.Context, p Identity, from []Peer, next func(context.Context) (G, error)) ([]G, []error) {
	if len(from) == 0 {
		return nil, nil
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	h := acceptor[G]{pool: newPool(), identity: p, complete: stop, from: from, accepted: map[Peer]G{}}
	var acceptErr error
	for waiting.Err() == nil {
		g, err := next(waiting)
		if err == nil {
			h.accept(waiting, g)
		} else if waiting.Err() == nil {
			acceptErr = err
			stop()
		}
	}
	h.running.Wait()
	if len(h.accepted) == len(from) {
		conns := make([]G, len(from))
		for i, peer := range from {
			conns[i] = h.accepted[peer]
		}
		return conns, nil
	}
	for _, g := range h.accepted {
		g.Close()
	}
	if acceptErr != nil {
		return nil, []error{acceptErr}
	}
	return nil, h.missingErrors(ctx)
}

// acceptor accepts the connections of the expected peers.
type acceptor[G Inbound] struct {
	pool
	identity Identity
	complete func() // ends the wait when all peers have connected
	from     []Peer

	mu       sync.Mutex
	accepted map[Peer]G
}

// accept keeps g if it comes from an expected peer.
func (h *acceptor[G]) accept(ctx context.Context, g G) {
	h.pool.handle(ctx, g, func(c Conn) (keep func() error, err error) {
		peer, err := h.identity.Accept(c, h.admit)
		return func() error { return h.keep(peer, g) }, err
	})
}

// admit returns nil if peer is expected, else the reason to refuse it.
func (h *acceptor[G]) admit(peer Peer) error {
	if slices.Contains(h.from, peer) {
		h.mu.Lock()
		defer h.mu.Unlock()
		return h.checkDuplicate(peer)
	}
	var ranks, streams []string
	for _, want := range h.from {
		ranks = append(ranks, fmt.Sprint(want.Rank))
		if want.Rank == peer.Rank {
			streams = append(streams, fmt.Sprint(want.Stream))
		}
	}
	if len(streams) > 0 {
		return fmt.Errorf("stream is %d, want %s", peer.Stream, alternatives(streams))
	}
	return fmt.Errorf("from rank is %d, want %s", peer.Rank, alternatives(ranks))
}

// checkDuplicate returns an error if peer has connected already. h.mu is held.
func (h *acceptor[G]) checkDuplicate(peer Peer) error {
	if _, ok := h.accepted[peer]; ok {
		return fmt.Errorf("rank %d has joined already (stream %d)", peer.Rank, peer.Stream)
	}
	return nil
}

// keep stores g as peer's connection, unless there is one.
func (h *acceptor[G]) keep(peer Peer, g G) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.checkDuplicate(peer); err != nil {
		return err
	}
	h.accepted[peer] = g
	if len(h.accepted) == len(h.from) {
		h.complete()
	}
	return nil
}

// missingErrors returns an error for each peer that did not connect before ctx ended.
func (h *acceptor[G]) missingErrors(ctx context.Context) []error {
	var errs []error
	for _, peer := range h.from {
		if _, ok := h.accepted[peer]; !ok {
			errs = append(errs, peerError(opAccept, h.identity.worker(peer), h.refusals.explain(ctx)))
		}
	}
	return errs
}

// worker returns the worker of peer.
func (p Identity) worker(peer Peer) ring.Worker { return p.Membership.Workers[peer.Rank] }
