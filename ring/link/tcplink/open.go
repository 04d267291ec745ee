package tcplink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
	"ringtrain/ring/link/internal/handshake"
	"ringtrain/ring/token"
)

// The limits on one attempt to connect to a neighbour.
const (
	dialTimeout      = 2 * time.Second // TCP connect
	handshakeTimeout = 5 * time.Second // handshake
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
	out, in, err := handshake.Connect(ctx, identity, halves,
		func(ctx context.Context, to handshake.Peer) (net.Conn, error) {
			return c.dial(ctx, m.Workers[to.Rank], func(rw handshake.Conn) error { return identity.Dial(rw, to) })
		},
		func(ctx context.Context) (inbound, error) {
			conn, err := acceptUntil(ctx, lis)
			return inbound{conn}, err
		})
	if err != nil {
		return nil, err
	}
	links := make([]ring.Link, len(routes))
	for i, r := range routes {
		switch {
		case isShared(r):
			both := prepare(cmp.Or[net.Conn](out[i], in[i].Conn), c.sharedSocket)
			links[i] = newLink(m, r, both, both, c)
		case out[i] != nil || in[i].Conn != nil:
			links[i] = newLink(m, r, prepare(out[i], c.socket), prepare(in[i].Conn, c.readConn), c)
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

// dial makes one attempt to connect to a worker. part is the dialer's part of the
// handshake.
func (c Config) dial(ctx context.Context, to ring.Worker, part func(handshake.Conn) error) (net.Conn, error) {
	attempt, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := c.Dial(attempt, to.Addr)
	if err != nil {
		return nil, delivery.WithoutAddresses(err)
	}
	if err := doHandshake(ctx, conn, part); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

// doHandshake runs one side's part of a handshake within handshakeTimeout and ctx.
func doHandshake(ctx context.Context, c net.Conn, part func(rw handshake.Conn) error) error {
	c.SetDeadline(time.Now().Add(handshakeTimeout))
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(expiredDeadline) })
	err := part(c)
	if !stop() {
		return context.Cause(ctx)
	}
	c.SetDeadline(time.Time{})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("no answer within %v: %w", handshakeTimeout, os.ErrDeadlineExceeded)
	}
	if err != nil {
		return delivery.WithoutAddresses(err)
	}
	return nil
}

// expiredDeadline is a deadline in the past.
var expiredDeadline = time.Unix(1, 0)
