package handshake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
	"ringtrain/ring/port"
	"ringtrain/ring/token"
)

// A Dialer connects to an address.
type Dialer = func(ctx context.Context, addr string) (net.Conn, error)

// dialTimeout bounds one attempt to connect to a worker, before the exchange.
const dialTimeout = 2 * time.Second

// reach makes one attempt to open a link to a peer.
func (i Identity) reach(ctx context.Context, dial Dialer, to Peer) (*Conn, error) {
	attempt, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	socket, err := dial(attempt, i.worker(to).Addr)
	if err != nil {
		return nil, delivery.WithoutAddresses(err)
	}
	prove := i.Token.DialTLS
	if i.Clear || i.within(socket, to) {
		prove = i.Token.DialClear
	}
	c, answer, err := prove(ctx, socket, i.Request(token.Link, to))
	if err != nil {
		return nil, delivery.WithoutAddresses(err)
	}
	if err := answer.Err(); err != nil {
		c.Close()
		return nil, err
	}
	return i.conn(c, to), nil
}

// dialed is the outcome of the attempts to open a link.
type dialed struct {
	conn     *Conn
	attempts int
	err      error // of the last attempt; nil if conn is open
}

// dialAll opens a link to each peer, with growing pauses between the attempts, until ctx ends. It calls
// failed for each that fails for good.
func (i Identity) dialAll(ctx context.Context, dial Dialer, to []Peer, failed func()) []dialed {
	all := make([]dialed, len(to))
	var dialing sync.WaitGroup
	for k, peer := range to {
		dialing.Go(func() {
			d := &all[k]
			d.conn, d.attempts, d.err = Retry(ctx, linkPauses, func(ctx context.Context) (*Conn, error) { return i.reach(ctx, dial, peer) })
			if d.err != nil {
				failed()
			}
		})
	}
	dialing.Wait()
	return all
}

// Connect opens the links of all routes at once; all workers call it at the same time. It dials each
// peer until it has reached the peer (see [Retry]), and takes those that dial this worker out of queue.
// The results are in the order of routes. They are nil where a route lacks the direction.
//
// If one link fails for good, Connect cancels the others and closes what is open. The
// error has one *ring.PeerError for each missing worker, in the order of routes: first those
// that could not be dialled, with Op "handshake", then those that did not connect, with
// Op "accept".
//
// Connect panics if a route leads to this worker itself or to a rank outside the world, or
// if two routes have an end in common.
func (i Identity) Connect(ctx context.Context, routes []ring.Route, dial Dialer, queue *port.Queue) (outs, ins []*Conn, err error) {
	to, from := i.peers(routes)
	both, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var dials []dialed
	var dialing sync.WaitGroup
	dialing.Go(func() { dials = i.dialAll(both, dial, to, func() { cancel(errCancelled) }) })
	in, missing := i.acceptLinks(both, from, queue)
	if len(missing) > 0 {
		cancel(errCancelled)
	}
	dialing.Wait()
	out := make([]*Conn, len(to))
	var errs []error
	for k, d := range dials {
		out[k] = d.conn
		errs = append(errs, d.error(both, i.worker(to[k])))
	}
	if err = joinErrors(append(errs, missing...)); err != nil {
		closeAll(out)
		closeAll(in)
		return nil, nil, err
	}
	outs, ins = byRoute(routes, out, in)
	return outs, ins, nil
}

// error returns why there is no link to w: a *ring.PeerError, nil if there is one.
func (d dialed) error(ctx context.Context, w ring.Worker) error {
	switch {
	case d.err == nil:
		return nil
	case IsFinal(d.err):
		return peerError(opDial, w, d.err)
	}
	return peerError(opDial, w, fmt.Errorf("no link after %d attempts, the last: %w (%w)", d.attempts, d.err, context.Cause(ctx)))
}

// ConnectAll opens links to and from all other workers, of stream 0, until all are open or ctx ends. One
// that fails does not affect the others. The results are by rank; why has the error of the last attempt
// of a nil entry in outs. All are nil for the worker itself.
func (i Identity) ConnectAll(ctx context.Context, dial Dialer, queue *port.Queue) (outs, ins []*Conn, why []error) {
	m := i.Membership
	outs, ins, why = make([]*Conn, m.Size()), make([]*Conn, m.Size()), make([]error, m.Size())
	var others []Peer
	for rank := range m.Workers {
		if rank != m.Rank {
			others = append(others, Peer{Rank: rank})
		}
	}
	var dialing sync.WaitGroup
	dialing.Go(func() {
		for k, d := range i.dialAll(ctx, dial, others, func() {}) {
			outs[others[k].Rank], why[others[k].Rank] = d.conn, d.err
		}
	})
	accepted, _, _ := Accept(ctx, queue, others, i.checkLink) // a closed queue brings nobody
	for k, c := range accepted {
		if c != nil {
			ins[others[k].Rank] = i.conn(c, others[k])
		}
	}
	dialing.Wait()
	return outs, ins, why
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
func byRoute(routes []ring.Route, out, in []*Conn) (outs, ins []*Conn) {
	outs, ins = make([]*Conn, len(routes)), make([]*Conn, len(routes))
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
