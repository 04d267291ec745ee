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

// The limits on one attempt to join a neighbour.
const (
	dialTimeout      = 2 * time.Second // until the connection stands
	handshakeTimeout = 5 * time.Second // from then until the handshake is done
)

// errSilent ends a handshake that takes too long.
var errSilent = fmt.Errorf("no answer within %v", handshakeTimeout)

// Config has the options of a worker's links.
type Config struct {
	// Token is what both neighbours must have.
	Token token.Token

	// PayloadCRC adds a CRC-32C to every payload that is sent: for connections
	// between hosts. What arrives is checked whenever it has one.
	PayloadCRC bool
}

// Open opens this worker's links, those of all routes at once: it calls whom
// they lead to and takes the calls of whom they come from from a, until all
// stand or ctx ends. A worker that is not there yet is called again; whoever
// calls and is not waited for is refused without disturbing the wait. One Open
// at a time may use a.
//
// The links are returned by route. One whose route has no From can only send,
// one without To only receive, and a route without both has a nil link.
//
// It panics if the world has one rank only, and if routes do not fit the
// membership or each other.
//
// The error is a *ring.PeerError, with Op "handshake" for a worker that was
// dialled and "accept" for one that did not come, for each worker that is
// missing, with the reason of the last attempt or who came instead
// (exitcode.Retry). Another protocol version is exitcode.Protocol, which ends Open
// at once. Somebody with another token is not the neighbour, who may yet come.
func Open(ctx context.Context, m ring.Membership, a *Acceptor, c Config, routes []ring.Route) ([]ring.Link, error) {
	if m.Size() < 2 {
		panic("grpclink: a world of one rank has no link")
	}
	party := handshake.Identity{Membership: m, Token: c.Token}
	out, in, err := handshake.Connect(ctx, party, routes,
		func(ctx context.Context, to handshake.Peer) (*outgoing, error) { return call(ctx, party, to) },
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

// outgoing is the client's side of a stream, on a connection of its own.
type outgoing struct {
	conn   *grpc.ClientConn
	stream grpc.ClientStream
	cancel context.CancelFunc // ends the stream, and calls that block on it
}

// Close ends the stream and its connection.
func (out *outgoing) Close() error {
	out.cancel()
	return out.conn.Close()
}

// call makes one attempt to join a worker.
func call(ctx context.Context, party handshake.Identity, to handshake.Peer) (*outgoing, error) {
	var d dialer
	conn, err := grpc.NewClient("passthrough:///"+party.Membership.Workers[to.Rank].Addr, dialOptions(d.dial)...)
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(context.Background()) // of the stream, which outlives ctx
	out := &outgoing{conn: conn, cancel: cancel}
	ctx, stopTimer := context.WithTimeoutCause(ctx, dialTimeout+handshakeTimeout, errSilent)
	defer stopTimer()
	stop := context.AfterFunc(ctx, cancel)
	err = out.open(life, func(rw handshake.Conn) error { return party.Dial(rw, to) })
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		out.Close()
		return nil, d.reason(err)
	}
	return out, nil
}

// active opens the stream and does the dialer's part of the handshake on it.
func (out *outgoing) open(life context.Context, part func(handshake.Conn) error) error {
	desc := streamDesc(nil)
	stream, err := out.conn.NewStream(life, &desc, fullMethod)
	if err != nil {
		return bare(err)
	}
	out.stream = stream
	return shake(stream, part)
}

// dialer connects without a proxy, and remembers why it could not: gRPC buries
// that in a long line.
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
	return patient{c}, nil
}

// patient is a connection that gRPC does not see to be TCP. It would set TCP_USER_TIMEOUT to
// pingEvery, and the kernel then ends a connection whose window is closed for so long, though the
// neighbour is alive and only stopped. That pings are not answered is found out anyway.
type patient struct{ net.Conn }

// reason returns why no connection stands, or else err.
func (d *dialer) reason(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil && !errors.Is(d.err, context.Canceled) {
		return delivery.WithoutAddresses(d.err)
	}
	return err
}
