package tcplink

import (
	"cmp"
	"context"
	"net"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/handshake"
	"ringtrain/ring/port"
	"ringtrain/ring/token"
)

// DefaultSpin is a good value of Config.Spin.
const DefaultSpin = 64

// Config has the options of a worker's links.
type Config struct {
	// Token is the job's token. Both neighbours have the same.
	Token token.Token

	// Clear sends frames between hosts in clear, with a CRC-32C, after both ends have proved the
	// token. Both neighbours have the same. Without it links between hosts use TLS.
	Clear bool

	// Spin bounds how often Recv tries to read before it sleeps in the kernel. Recv
	// yields its core between two attempts, and spins less while spinning finds no
	// bytes. With 0 Recv sleeps at once.
	Spin int

	// Dial connects to an address. Nil stands for a net.Dialer, which uses no
	// proxies.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
}

func (c Config) identity(m ring.Membership) handshake.Identity {
	return handshake.Identity{Membership: m, Token: c.Token, Clear: c.Clear}
}

func (c Config) dial() handshake.Dialer {
	if c.Dial != nil {
		return c.Dial
	}
	return dialTCP
}

// Open opens the links of all routes at once. It dials the worker that each route leads to
// and accepts the worker that each route comes from, until all links are open or ctx ends.
// Open dials a worker that has not started yet again.
//
// The links are in the order of routes. A link whose route has no From can only send, and
// one without To can only receive. A route without both has a nil link.
//
// queue has the proved links of this worker's port (port.Port.Links). The caller owns it. One Open at a
// time may use it. Open refuses what no route wants and continues to wait. Open panics if the world has
// one rank only, or if routes do not fit the membership or each other.
//
// The error wraps one *ring.PeerError for each missing worker, with exitcode.Retry. Its Op
// is "handshake" for a worker that was dialled, with the reason of the last attempt. Its
// Op is "accept" for a worker that did not connect, with the last refused connection.
// Another protocol version is exitcode.Protocol and ends Open at once. An acceptor with
// another token is not the neighbour: Open continues to dial.
func Open(ctx context.Context, m ring.Membership, queue *port.Queue, c Config, routes []ring.Route) ([]ring.Link, error) {
	if m.Size() < 2 {
		panic("tcplink: a world of one rank has no link")
	}
	halves := make([]ring.Route, len(routes))
	for i, r := range routes {
		halves[i] = dialSide(m.Rank, r)
	}
	outs, ins, err := c.identity(m).Connect(ctx, halves, c.dial(), queue)
	if err != nil {
		return nil, err
	}
	_, local := m.Local()
	sends := func(s net.Conn) socket { return newSocket(tune(s, local)) }
	reads := func(s net.Conn) socket { return newSocket(newReadConn(tune(s, local), c.Spin)) }
	links := make([]ring.Link, len(routes))
	for i, r := range routes {
		switch {
		case isShared(r):
			both := newConn(cmp.Or(outs[i], ins[i]), reads)
			links[i] = newLink(m, r, both, both)
		case outs[i] != nil || ins[i] != nil:
			links[i] = newLink(m, r, newConn(outs[i], sends), newConn(ins[i], reads))
		}
	}
	return links, nil
}

func dialTCP(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}
