package tcplink

import (
	"context"
	"net"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/handshake"
	"ringtrain/ring/port"
)

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

// ConnectAll connects this worker with each other worker in both directions, as links do. All
// workers call ConnectAll at about the same time. The failure of one connection does not affect the
// others: a caller learns which pairs of hosts can connect. ConnectAll returns when all connections
// are open, or when ctx ends. ctx must have a deadline.
//
// The caller owns the connections; they have no deadline. The rules for queue are those of
// [Open]. ConnectAll uses Token, Clear and Dial of c only.
func ConnectAll(ctx context.Context, m ring.Membership, queue *port.Queue, c Config) *AllConns {
	a := &AllConns{}
	var out, in []*handshake.Conn
	out, in, a.Why = c.identity(m).ConnectAll(ctx, c.dial(), queue)
	a.Out, a.In = tuned(out), tuned(in)
	return a
}

// tuned returns the connections with socket options for bulk data. nil stays nil.
func tuned(conns []*handshake.Conn) []net.Conn {
	all := make([]net.Conn, len(conns))
	for rank, c := range conns {
		if c != nil {
			tune(c.Socket(), 1)
			all[rank] = abruptConn{c.Conn, c.Socket()}
		}
	}
	return all
}

// abruptConn is a connection whose Close sends no last message of TLS: that would wait for a peer that
// does not read.
type abruptConn struct {
	net.Conn
	socket net.Conn
}

func (c abruptConn) Close() error { return c.socket.Close() }
