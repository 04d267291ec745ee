package handshake

import (
	"context"
	"fmt"
	"net"
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
func acceptAll(ctx context.Context, p Identity, from []Peer, next func(context.Context) (net.Conn, error)) ([]net.Conn, []error) {
	if len(from) == 0 {
		return nil, nil
	}
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	h := acceptor{complete: stop, from: from, accepted: map[Peer]net.Conn{}}
	refused, acceptErr := serve(waiting, p, h.admit, h.keep, next)
	if len(h.accepted) == len(from) {
		conns := make([]net.Conn, len(from))
		for i, peer := range from {
			conns[i] = h.accepted[peer]
		}
		return conns, nil
	}
	for _, conn := range h.accepted {
		conn.Close()
	}
	if acceptErr != nil {
		return nil, []error{acceptErr}
	}
	return nil, h.missingErrors(ctx, p, refused)
}

// Serve runs the handshakes of the connections of next, until ctx ends or next fails. It hands
// each connection to keep after its handshake, and closes it if keep returns an error. admit
// returns the reason to refuse a peer. Both may be called from several goroutines. When Serve
// returns, all its goroutines have ended.
func Serve(ctx context.Context, p Identity, admit func(Peer) error, keep func(Peer, net.Conn) error, next func(context.Context) (net.Conn, error)) {
	_, _ = serve(ctx, p, admit, keep, next)
}

// serve is Serve. It returns whom it has refused, and the error of next before ctx has ended.
func serve(ctx context.Context, p Identity, admit func(Peer) error, keep func(Peer, net.Conn) error, next func(context.Context) (net.Conn, error)) (*refusals, error) {
	serving, stop := context.WithCancel(ctx)
	r := newPool()
	defer r.running.Wait()
	defer stop()
	for ctx.Err() == nil {
		conn, err := next(serving)
		if err == nil {
			r.handle(serving, conn, func() error {
				var peer Peer
				err := within(serving, conn, func(c Conn) (err error) {
					peer, err = p.Accept(c, admit)
					return err
				})
				if err == nil {
					err = keep(peer, conn)
				}
				return err
			})
		} else if ctx.Err() == nil {
			return &r.refusals, err
		}
	}
	return &r.refusals, nil
}

// acceptor accepts the connections of the expected peers.
type acceptor struct {
	complete func() // ends the wait when all peers have connected
	from     []Peer

	mu       sync.Mutex
	accepted map[Peer]net.Conn
}

// admit returns nil if peer is expected, else the reason to refuse it.
func (a *acceptor) admit(peer Peer) error {
	if slices.Contains(a.from, peer) {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.checkDuplicate(peer)
	}
	var ranks, streams []string
	for _, want := range a.from {
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

// checkDuplicate returns an error if peer has connected already. a.mu is held.
func (a *acceptor) checkDuplicate(peer Peer) error {
	if _, ok := a.accepted[peer]; ok {
		return fmt.Errorf("rank %d has joined already (stream %d)", peer.Rank, peer.Stream)
	}
	return nil
}

// keep stores conn as peer's connection, unless there is one.
func (a *acceptor) keep(peer Peer, conn net.Conn) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.checkDuplicate(peer); err != nil {
		return err
	}
	a.accepted[peer] = conn
	if len(a.accepted) == len(a.from) {
		a.complete()
	}
	return nil
}

// missingErrors returns an error for each peer that did not connect before ctx ended.
func (a *acceptor) missingErrors(ctx context.Context, p Identity, refused *refusals) []error {
	var errs []error
	for _, peer := range a.from {
		if _, ok := a.accepted[peer]; !ok {
			errs = append(errs, peerError(opAccept, p.worker(peer), refused.explain(ctx)))
		}
	}
	return errs
}

// worker returns the worker of peer.
func (i Identity) worker(peer Peer) ring.Worker { return i.Membership.Workers[peer.Rank] }
