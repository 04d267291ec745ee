package tcplink

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/internal/handshake"
)

// connectAllPause is the pause between two attempts of ConnectAll to dial a worker.
const connectAllPause = 100 * time.Millisecond

// AllConns has a worker's connections to all other workers, by rank. The entries of the
// worker itself are nil.
type AllConns struct {
	Out []net.Conn // dialled by this worker; nil if the dial failed
	In  []net.Conn // accepted by this worker; nil if the rank did not connect
	Why []error    // reason of a nil entry in Out
}

// Close closes all connections. It returns nil.
func (a *AllConns) Close() error {
	for _, list := range [][]net.Conn{a.Out, a.In} {
		for _, c := range list {
			if c != nil {
				c.Close()
			}
		}
	}
	return nil
}

// ConnectAll connects this worker with each other worker in both directions. All workers
// call ConnectAll at about the same time. Each connection uses the handshake of a link, and
// its failure does not affect the others: a caller learns which pairs of hosts can connect.
// ConnectAll returns when all connections are open, or when ctx ends. ctx must have a deadline.
//
// The caller owns the connections; they have no deadline. The rules for lis are those of
// [Open]. ConnectAll uses Token and Dial of c only.
func ConnectAll(ctx context.Context, m ring.Membership, lis net.Listener, c Config) (*AllConns, error) {
	if c.Dial == nil {
		c.Dial = dialTCP
	}
	identity := handshake.Identity{Membership: m, Token: c.Token}
	if err := identity.Check(); err != nil {
		return nil, err
	}
	r := &AllConns{Out: make([]net.Conn, m.Size()), Why: make([]error, m.Size())}
	var dialing sync.WaitGroup
	for _, w := range m.Workers {
		if w.Rank != m.Rank {
			dialing.Go(func() { r.Out[w.Rank], r.Why[w.Rank] = c.dialUntil(ctx, identity, w) })
		}
	}
	r.In = acceptFromAll(ctx, identity, lis)
	dialing.Wait()
	return r, nil
}

// dialUntil dials w until an attempt succeeds or ctx ends. The error is that of the last
// attempt that ctx did not interrupt.
func (c Config) dialUntil(ctx context.Context, identity handshake.Identity, w ring.Worker) (net.Conn, error) {
	var last error
	for {
		conn, err := identity.Reach(ctx, c.Dial, handshake.Peer{Rank: w.Rank})
		if err == nil {
			return tune(conn, 1), nil
		}
		if last == nil || ctx.Err() == nil {
			last = err
		}
		if exitcode.Of(err) == exitcode.Protocol {
			return nil, last
		}
		select {
		case <-ctx.Done():
			return nil, last
		case <-time.After(connectAllPause):
		}
	}
}

// inboundSet has the accepted connections by rank.
type inboundSet struct {
	mu       sync.Mutex
	conns    []net.Conn
	missing  int // ranks without a connection
	complete context.CancelFunc
}

// acceptFromAll accepts one connection from each other rank, until ctx ends.
func acceptFromAll(ctx context.Context, identity handshake.Identity, lis net.Listener) []net.Conn {
	m := identity.Membership
	waiting, full := context.WithCancel(ctx)
	defer full()
	a := &inboundSet{conns: make([]net.Conn, m.Size()), missing: m.Size() - 1, complete: full}
	handshake.Serve(waiting, identity,
		func(peer handshake.Peer) error {
			if peer.Stream != 0 || peer.Rank < 0 || peer.Rank >= m.Size() || peer.Rank == m.Rank {
				return errors.New("nobody waits for this rank and stream")
			}
			return nil
		},
		func(peer handshake.Peer, conn net.Conn) error { a.store(peer.Rank, tune(conn, 1)); return nil },
		acceptUntil(lis))
	return a.conns
}

// store keeps conn as the connection from rank. A dialer that missed the end of the handshake
// dials again, so the newest connection replaces an older one.
func (i *inboundSet) store(rank int, conn net.Conn) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if old := i.conns[rank]; old != nil {
		old.Close()
	} else {
		i.missing--
	}
	i.conns[rank] = conn
	if i.missing == 0 {
		i.complete()
	}
}
