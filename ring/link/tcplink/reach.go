package tcplink

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/internal/delivery"
	"ringtrain/ring/link/internal/handshake"
)

// reachPause is between two attempts of Reach to dial a worker.
const reachPause = 100 * time.Millisecond

// Reached is what a worker has found of its ways to the others, by rank. Its own
// place is empty.
type Reached struct {
	Out []net.Conn // to a worker, dialled here; nil if it was not reached
	In  []net.Conn // from a worker, accepted here; nil if it has not come
	Why []error    // why there is no Out
}

// Close closes all connections. It returns nil.
func (r *Reached) Close() error {
	for _, list := range [][]net.Conn{r.Out, r.In} {
		for _, c := range list {
			if c != nil {
				c.Close()
			}
		}
	}
	return nil
}

// Reach connects this worker with each of the others, both ways, as all must at
// about the same time. A connection begins as that of a link does, and stands or
// fails by itself: this is for who wants to know which ways there are. It returns
// when all stand, or with those that do when ctx ends, which must have a deadline.
//
// The connections are the caller's, without a deadline. lis is as for [Open]; of c,
// Token and Dial count.
func Reach(ctx context.Context, m ring.Membership, lis net.Listener, c Config) (*Reached, error) {
	if c.Dial == nil {
		c.Dial = dialTCP
	}
	party := handshake.Party{Membership: m, Token: c.Token}
	if err := party.Check(); err != nil {
		return nil, err
	}
	r := &Reached{Out: make([]net.Conn, m.Size()), Why: make([]error, m.Size())}
	var dialing sync.WaitGroup
	for _, w := range m.Workers {
		if w.Rank != m.Rank {
			dialing.Go(func() { r.Out[w.Rank], r.Why[w.Rank] = c.reach(ctx, party, w) })
		}
	}
	r.In = arrive(ctx, party, lis)
	dialing.Wait()
	return r, nil
}

// reach dials w until it answers or ctx ends. The error is that of the last
// attempt that ended by itself.
func (c Config) reach(ctx context.Context, party handshake.Party, w ring.Worker) (net.Conn, error) {
	var last error
	for {
		conn, err := c.dial(ctx, w, func(rw handshake.Conn) error { return party.Dial(rw, handshake.Peer{Rank: w.Rank}) })
		if err == nil {
			return tune(conn, 1), nil
		}
		if last == nil || ctx.Err() == nil {
			last = delivery.Bare(err)
		}
		if exitcode.Of(err) == exitcode.Protocol {
			return nil, last
		}
		select {
		case <-ctx.Done():
			return nil, last
		case <-time.After(reachPause):
		}
	}
}

// arrivals are the connections that have come in, by rank.
type arrivals struct {
	mu    sync.Mutex
	conns []net.Conn
	away  int // ranks that have not come
	full  context.CancelFunc
}

// arrive accepts a connection from each of the others, until ctx ends.
func arrive(ctx context.Context, party handshake.Party, lis net.Listener) []net.Conn {
	m := party.Membership
	waiting, full := context.WithCancel(ctx)
	defer full()
	a := &arrivals{conns: make([]net.Conn, m.Size()), away: m.Size() - 1, full: full}
	handshake.Attend(waiting, party,
		func(peer handshake.Peer) (next delivery.Position, take func(guest) error, err error) {
			if peer.Stream != 0 || peer.Rank < 0 || peer.Rank >= m.Size() || peer.Rank == m.Rank {
				return next, nil, errors.New("nobody waits for this rank and stream")
			}
			return next, func(g guest) error { a.take(peer.Rank, tune(g.Conn, 1)); return nil }, nil
		},
		func(ctx context.Context) (guest, error) {
			conn, err := acceptUntil(ctx, lis)
			return guest{conn}, err
		})
	return a.conns
}

// take keeps a rank's connection. A dialer that has not heard the end of the
// handshake dials again, so the newer one counts.
func (a *arrivals) take(rank int, conn net.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if old := a.conns[rank]; old != nil {
		old.Close()
	} else {
		a.away--
	}
	a.conns[rank] = conn
	if a.away == 0 {
		a.full()
	}
}
