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
	c, _, err := prove(ctx, socket, i.Request(token.Link, to))
	if err != nil {
		return nil, delivery.WithoutAddresses(err)
	}
	return i.conn(c, to), nil
}

// dialed is the outcome of the attempts to open a link.
type dialed struct {
	conn     *Conn
	attempts int
	err      error // of the last attempt; nil if conn is open
}

// peers are the workers that this one dials and those that it accepts.
type peers struct{ to, from []Peer }

// meet opens a link to each peer of p.to, with growing pauses between the attempts, and takes those of p.from
// out of queue, until ctx ends. The results are in the order of the peers, nil for one that did not come. It
// calls failed for each link that fails for good.
func (i Identity) meet(ctx context.Context, dial Dialer, queue *port.Queue, p peers, failed func()) (outs []dialed, ins []*Conn, r Refusals, err error) {
	outs = make([]dialed, len(p.to))
	var dialing sync.WaitGroup
	for k, peer := range p.to {
		dialing.Go(func() {
			d := &outs[k]
			d.conn, d.attempts, d.err = Retry(ctx, linkPauses, func(ctx context.Context) (*Conn, error) { return i.reach(ctx, dial, peer) })
			if d.err != nil {
				failed()
			}
		})
	}
	accepted, r, err := Accept(ctx, queue, p.from, i.checkLink)
	ins = make([]*Conn, len(p.from))
	for k, c := range accepted {
		if c != nil {
			ins[k] = i.conn(c, p.from[k])
		} else {
			failed()
		}
	}
	dialing.Wait()
	return outs, ins, r, err
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
	p := i.peers(routes)
	both, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	dials, in, refused, err := i.meet(both, dial, queue, p, func() { cancel(errCancelled) })
	out := make([]*Conn, len(p.to))
	var errs []error
	for k, d := range dials {
		out[k] = d.conn
		errs = append(errs, d.error(both, i.worker(p.to[k])))
	}
	if err != nil {
		errs = append(errs, fmt.Errorf("accept links on %s: %w", queue.Addr(), err))
	}
	for k, c := range in {
		if c == nil && err == nil {
			errs = append(errs, peerError(opAccept, i.worker(p.from[k]), refused.explain(both)))
		}
	}
	if err = joinErrors(errs); err != nil {
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
	dials, accepted, _, _ := i.meet(ctx, dial, queue, peers{others, others}, func() {}) // a closed queue brings nobody
	for k, d := range dials {
		rank := others[k].Rank
		outs[rank], ins[rank], why[rank] = d.conn, accepted[k], d.err
	}
	return outs, ins, why
}

// peers returns the peers that routes lead to and those that routes come from, each in order.
func (i Identity) peers(routes []ring.Route) (p peers) {
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
		p.to, p.from = add(p.to, Peer{r.To, r.Stream}), add(p.from, Peer{r.From, r.Stream})
	}
	return p
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
