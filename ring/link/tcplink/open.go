package tcplink

import (
	"cmp"
	"context"
	"net"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/handshake"
	"ringtrain/ring/token"
)

// DefaultSpin is a good value of Config.Spin.
const DefaultSpin = 64

// Config has the options of a worker's links.
type Config struct {
	// Token is the job's token. Both neighbours have the same.
	Token token.Token

	// PayloadCRC adds a CRC-32C to every payload that is sent, for connections
	// between hosts. A receiver checks every CRC that arrives.
	PayloadCRC bool

	// Spin bounds how often Recv tries to read before it sleeps in the kernel. Recv
	// yields its core between two attempts, and spins less while spinning finds no
	// bytes. With 0 Recv sleeps at once.
	Spin int

	// Dial connects to an address. Nil stands for a net.Dialer, which uses no
	// proxies.
	Dial func(ctx context.Context, addr string) (net.Conn, error)

	local int // workers on this worker's host
}

// Open opens the links of all routes at once. It dials the worker that each route leads to
// and accepts the worker that each route comes from, until all links are open or ctx ends.
// Open dials a worker that has not started yet again. It refuses a stranger's connection
// to lis and continues to wait.
//
// The links are in the order of routes. A link whose route has no From can only send, and
// one without To can only receive. A route without both has a nil link.
//
// The caller owns lis, which stays open. One Open at a time may use lis. lis must have a method
// SetDeadline like that of *net.TCPListener. Open panics if it has not, if the world has one rank only, or
// if routes do not fit the membership or each other.
//
// The error wraps one *ring.PeerError for each missing worker, with exitcode.Retry. Its Op
// is "handshake" for a worker that was dialled, with the reason of the last attempt. Its
// Op is "accept" for a worker that did not connect, with the last refused connection.
// Another protocol version is exitcode.Protocol and ends Open at once. An acceptor with
// another token is not the neighbour: Open continues to dial.
func Open(ctx context.Context, m ring.Membership, lis net.Listener, c Config, routes []ring.Route) ([]ring.Link, error) {
	if m.Size() < 2 {
		panic("tcplink: a world of one rank has no link")
	}
	if c.Dial == nil {
		c.Dial = dialTCP
	}
	_, c.local = m.Local()
	identity := handshake.Identity{Membership: m, Token: c.Token}
	halves := make([]ring.Route, len(routes))
	for i, r := range routes {
		halves[i] = dialSide(m.Rank, r)
	}
	out, in, err := handshake.Connect(ctx, identity, halves, c.Dial, acceptUntil(lis))
	if err != nil {
		return nil, err
	}
	links := make([]ring.Link, len(routes))
	for i, r := range routes {
		switch {
		case isShared(r):
			both := prepare(cmp.Or(out[i], in[i]), c.sharedSocket)
			links[i] = newLink(m, r, both, both, c)
		case out[i] != nil || in[i] != nil:
			links[i] = newLink(m, r, prepare(out[i], c.socket), prepare(in[i], c.readConn), c)
		}
	}
	return links, nil
}

// prepare applies use to a connection after its handshake; nil stays nil.
func prepare[T net.Conn](conn net.Conn, use func(net.Conn) T) (t T) {
	if conn != nil {
		t = use(conn)
	}
	return t
}

// readConn returns conn, after its handshake, as a connection to read frames from.
func (c Config) readConn(conn net.Conn) net.Conn { return newReadConn(tune(conn, c.local), c.Spin) }

// socket returns conn, after its handshake, as a connection to send frames over.
func (c Config) socket(conn net.Conn) socket { return newSocket(tune(conn, c.local)) }

func dialTCP(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}
