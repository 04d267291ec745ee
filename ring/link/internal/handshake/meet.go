package handshake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"ringtrain/ring"
)

// Meet opens the connections of routes, all at once, as all workers must: each
// is busy in the same way. dial makes one attempt to reach a peer, and is
// called again and again until it succeeds, with growing pauses (see retry);
// next delivers whoever comes, until its context ends. What is opened is
// returned by route; where a route has no such direction there is a zero value.
//
// If one connection fails for good, the others are called off and what stands
// is closed. The error is one *ring.PeerError for each worker that is missing,
// in the order of routes: first those that could not be dialled, with Op
// "handshake", then those that did not come, with Op "accept".
//
// It panics if a route leads to this worker itself or out of the world, or if
// two of them have an end in common.
func Meet[D io.Closer, G Guest](ctx context.Context, p Party, routes []ring.Route,
	dial func(context.Context, Peer) (D, error), next func(context.Context) (G, error)) ([]D, []G, error) {
	to, from := p.peers(routes)
	if err := p.Check(); err != nil {
		return nil, nil, err
	}
	meeting, callOff := context.WithCancelCause(ctx)
	defer callOff(nil)
	var (
		out     = make([]D, len(to))
		outErrs = make([]error, len(to))
		dialing sync.WaitGroup
	)
	for i, peer := range to {
		dialing.Go(func() {
			out[i], outErrs[i] = retry(meeting, p.worker(peer), func(ctx context.Context) (D, error) { return dial(ctx, peer) })
			if outErrs[i] != nil {
				callOff(errCalledOff)
			}
		})
	}
	in, inErrs := await(meeting, p, from, next)
	if len(inErrs) > 0 {
		callOff(errCalledOff)
	}
	dialing.Wait()
	err := together(append(outErrs, inErrs...))
	if err == nil {
		return byRoute(routes, out, in)
	}
	for i := range out {
		if outErrs[i] == nil {
			out[i].Close()
		}
	}
	for _, g := range in {
		g.Close()
	}
	return nil, nil, err
}

// peers returns whom routes lead to and whom they come from, each in order.
func (p Party) peers(routes []ring.Route) (to, from []Peer) {
	add := func(list []Peer, peer Peer) []Peer {
		switch {
		case peer.Rank == -1:
			return list
		case peer.Rank < 0 || peer.Rank >= p.Membership.Size():
			panic("handshake: a route leads out of the world")
		case peer.Rank == p.Membership.Rank:
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

// byRoute deals out what was opened.
func byRoute[D, G any](routes []ring.Route, out []D, in []G) ([]D, []G, error) {
	outs, ins := make([]D, len(routes)), make([]G, len(routes))
	for i, r := range routes {
		if r.To >= 0 {
			outs[i], out = out[0], out[1:]
		}
		if r.From >= 0 {
			ins[i], in = in[0], in[1:]
		}
	}
	return outs, ins, nil
}

// errCalledOff ends the other connections when one has failed.
var errCalledOff = errors.New("another link failed")

// together drops the errors of what was only called off, and all but the first
// about the same worker.
func together(errs []error) error {
	var all error
	seen := map[int]bool{}
	for _, err := range errs {
		if err == nil || errors.Is(err, errCalledOff) {
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
