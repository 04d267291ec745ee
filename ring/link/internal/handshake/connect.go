package handshake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"

	"ringtrain/ring"
)

// Connect opens the connections of all routes at once; all workers call it at the same time.
// It dials each peer with growing pauses until it has reached the peer (see retry). next
// returns the next accepted connection, until its context ends. The results are in the order
// of routes. They are nil where a route lacks the direction.
//
// If one connection fails for good, Connect cancels the others and closes what is open. The
// error has one *ring.PeerError for each missing worker, in the order of routes: first those
// that could not be dialled, with Op "handshake", then those that did not connect, with
// Op "accept".
//
// Connect panics if a route leads to this worker itself or to a rank outside the world, or
// if two routes have an end in common.
func Connect(ctx context.Context, p Identity, routes []ring.Route, dial Dialer, next func(context.Context) (net.Conn, error)) (outs, ins []net.Conn, err error) {
	to, from := p.peers(routes)
	if err := p.Check(); err != nil {
		return nil, nil, err
	}
	dialCtx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var (
		out     = make([]net.Conn, len(to))
		outErrs = make([]error, len(to))
		dialing sync.WaitGroup
	)
	for i, peer := range to {
		dialing.Go(func() {
			out[i], outErrs[i] = retry(dialCtx, p.worker(peer), func(ctx context.Context) (net.Conn, error) { return p.Reach(ctx, dial, peer) })
			if outErrs[i] != nil {
				cancel(errCancelled)
			}
		})
	}
	in, inErrs := acceptAll(dialCtx, p, from, next)
	if len(inErrs) > 0 {
		cancel(errCancelled)
	}
	dialing.Wait()
	err = joinErrors(append(outErrs, inErrs...))
	if err == nil {
		outs, ins = byRoute(routes, out, in)
		return outs, ins, nil
	}
	for i := range out {
		if outErrs[i] == nil {
			out[i].Close()
		}
	}
	for _, conn := range in {
		conn.Close()
	}
	return nil, nil, err
}

// peers returns the peers that routes lead to and those that routes come from, each in order.
func (i Identity) peers(routes []ring.Route) (to, from []Peer) {
	add := func(list []Peer, peer Peer) []Peer {
		switch {
		case peer.Rank == -1:
			return list
		case peer.Rank < 0 || peer.Rank >= i.Membership.Size():
			panic("handshake: a route leads out of the world")
		case peer.Rank == i.Membership.Rank:
			panic("handshake: a route leads to its own worker")
		case slices.Contains(list, peer):
			panic("handshake: two routes have the same end")
		}
		return append(list, peer)
	}
	for _, r := range routes {
		to, from = add(to, Peer{r.To, r.Stream}), add(from, Peer{r.From, r.Stream})
	}
	return to, from
}

// byRoute assigns the connections to their routes.
func byRoute(routes []ring.Route, out, in []net.Conn) (outs, ins []net.Conn) {
	outs, ins = make([]net.Conn, len(routes)), make([]net.Conn, len(routes))
	for i, r := range routes {
		if r.To >= 0 {
			outs[i], out = out[0], out[1:]
		}
		if r.From >= 0 {
			ins[i], in = in[0], in[1:]
		}
	}
	return outs, ins
}

// errCancelled ends the other connections after one has failed.
var errCancelled = errors.New("another link failed")

// joinErrors joins errs. It drops errors of cancelled connections, and all but the first
// error about a worker.
func joinErrors(errs []error) error {
	var all error
	seen := map[int]bool{}
	for _, err := range errs {
		if err == nil || errors.Is(err, errCancelled) {
			continue
		}
		if pe, ok := errors.AsType[*ring.PeerError](err); ok {
			if seen[pe.Rank] {
				continue
			}
			seen[pe.Rank] = true
		}
		if all == nil {
			all = err
		} else {
			all = fmt.Errorf("%w; %w", all, err)
		}
	}
	return all
}
