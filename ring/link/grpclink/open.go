package grpclink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"google.golang.org/grpc"

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

// errSilent ends a handshake that exceeds handshakeTimeout.
var errSilent = fmt.Errorf("no answer within %v", handshakeTimeout)

// Config has the options of a worker's links.
type Config struct {
	// Token is the job's token. Both neighbours have the same.
	Token token.Token

	// PayloadCRC adds a CRC-32C to every payload that is sent, for connections
	// between hosts. A receiver checks every CRC that arrives.
	PayloadCRC bool
}

// Open opens the links of all routes at once. It calls the worker that each route leads to
// and takes the calls of the worker that each route comes from from a, until all links are
// open or ctx ends. Open calls a worker that has not started yet again. It refuses a
// stranger's call and continues to wait. One Open at a time may use a.
//
// The links are in the order of routes. A link whose route has no From can only send, and
// one without To can only receive. A route without both has a nil link.
//
// Open panics if the world has one rank only, or if routes do not fit the membership or
// each other.
//
// The error wraps one *ring.PeerError for each missing worker, with exitcode.Retry. Its Op
// is "handshake" for a worker that was called, with the reason of the last attempt. Its Op
// is "accept" for a worker that did not call, with the last refused call. Another protocol
// version is exitcode.Protocol and ends Open at once. An acceptor with another token is not
// the neighbour: Open continues to call.
func Open(ctx context.Context, m ring.Membership, a *Acceptor, c Config, routes []ring.Route) ([]ring.Link, error) {
	if m.Size() < 2 {
		panic("grpclink: a world of one rank has no link")
	}
	identity := handshake.Identity{Membership: m, Token: c.Token}
	out, in, err := handshake.Connect(ctx, identity, routes,
		func(ctx context.Context, to handshake.Peer) (*outgoing, error) { return call(ctx, identity, to) },
		a.next)
	if err != nil {
		return nil, err
	}
	links := make([]ring.Link, len(routes))
	for i, r := range routes {
		if out[i] != nil || in[i] != nil {
			links[i] = newLink(m, r, out[i], in[i], c.PayloadCRC)
		}
	}
	return links, nil
}

// outgoing is the client's side of a stream. It has a connection of its own.
type outgoing struct {
	conn   *grpc.ClientConn
	stream grpc.ClientStream
	cancel context.CancelFunc // ends the stream and its blocked calls
}

// Close ends the stream and its connection.
func (out *outgoing) Close() error {
	out.cancel()
	return out.conn.Close()
}

// call makes one attempt to connect to a worker.
func call(ctx context.Context, identity handshake.Identity, to handshake.Peer) (*outgoing, error) {
	var d dialer
	conn, err := grpc.NewClient("passthrough:///"+identity.Membership.Workers[to.Rank].Addr, dialOptions(d.dial)...)
	if err != nil {
		return nil, err
	}
	lifetime, cancel := context.WithCancel(context.Background()) // the stream outlives ctx
	out := &outgoing{conn: conn, cancel: cancel}
	ctx, stopTimer := context.WithTimeoutCause(ctx, dialTimeout+handshakeTimeout, errSilent)
	defer stopTimer()
	stop := context.AfterFunc(ctx, cancel)
	err = out.open(lifetime, func(rw handshake.Conn) error { return identity.Dial(rw, to) })
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		out.Close()
		return nil, d.reason(err)
	}
	return out, nil
}

// open opens the stream and runs the dialer's part of the handshake on it.
func (out *outgoing) open(lifetime context.Context, part func(handshake.Conn) error) error {
	desc := streamDesc(nil)
	stream, err := out.conn.NewStream(lifetime, &desc, fullMethod)
	if err != nil {
		return messageOnly(err)
	}
	out.stream = stream
	return doHandshake(stream, part)
}

// dialer connects without a proxy and remembers the last error, which gRPC hides in a long
// message.
type dialer struct {
	mu  sync.Mutex
	err error
}

func (d *dialer) dial(ctx context.Context, addr string) (net.Conn, error) {
	var plain net.Dialer
	c, err := plain.DialContext(ctx, "tcp", addr)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
	if err != nil {
		return nil, err
	}
	return opaqueConn{c}, nil
}

// opaqueConn hides from gRPC that a connection is TCP. Otherwise gRPC would set
// TCP_USER_TIMEOUT to pingEvery, and the kernel would end a connection whose window is closed
// for so long, although the neighbour is alive and only stopped. gRPC's pings still detect a
// lost neighbour.
type opaqueConn struct{ net.Conn }

// reason returns the dial error if there is one, else err.
func (d *dialer) reason(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil && !errors.Is(d.err, context.Canceled) {
		return delivery.WithoutAddresses(d.err)
	}
	return err
}
