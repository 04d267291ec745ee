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
)

// The limits on one attempt to join a neighbour.
const (
	dialTimeout      = 2 * time.Second // until the connection stands
	handshakeTimeout = 5 * time.Second // from then until the handshake is done
)

// errSilent ends a handshake that takes too long.
var errSilent = fmt.Errorf("no answer within %v", handshakeTimeout)

// Config has the options of a link.
type Config struct {
	// Token is what both neighbours must have.
	Token ring.Token

	// PayloadCRC adds a CRC-32C to every payload that is sent: for connections
	// between hosts. What arrives is checked whenever it has one.
	PayloadCRC bool
}

// Open joins this worker to its neighbours: it calls the right one and takes
// the left one's call from a, at the same time, until both stand or ctx ends. A
// neighbour that is not there yet is called again; strangers are refused
// without disturbing the wait. One Open at a time may use a.
//
// It panics if the world has one rank only, for then there is nobody to join.
//
// The error is a *ring.PeerError with Op "handshake" that names the missing
// neighbour, with the reason of the last attempt or who came instead
// (exitcode.Retry). Another token is exitcode.Auth, another protocol version
// exitcode.Protocol; these two end Open at once.
func Open(ctx context.Context, m ring.Membership, a *Acceptor, c Config) (ring.Link, error) {
	if m.Size() < 2 {
		panic("grpclink: a world of one rank has no link")
	}
	party := handshake.Party{Membership: m, Token: c.Token}
	if err := party.Check(); err != nil {
		return nil, err
	}
	out, in, err := handshake.Both(ctx,
		func(ctx context.Context) (*outgoing, error) {
			return handshake.Retry(ctx, m.Right(), func(ctx context.Context) (*outgoing, error) {
				return callRight(ctx, party)
			})
		},
		func(ctx context.Context) (*incoming, error) { return handshake.Await(ctx, party, a.next) })
	if err != nil {
		return nil, err
	}
	return newLink(m, out, in, c.PayloadCRC), nil
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

// callRight makes one attempt to join the right neighbour.
func callRight(ctx context.Context, party handshake.Party) (*outgoing, error) {
	var d dialer
	conn, err := grpc.NewClient("passthrough:///"+party.Membership.Right().Addr, dialOptions(d.dial)...)
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(context.Background()) // of the stream, which outlives ctx
	out := &outgoing{conn: conn, cancel: cancel}
	ctx, stopTimer := context.WithTimeoutCause(ctx, dialTimeout+handshakeTimeout, errSilent)
	defer stopTimer()
	stop := context.AfterFunc(ctx, cancel)
	err = out.call(life, party)
	if !stop() {
		err = context.Cause(ctx)
	}
	if err != nil {
		out.Close()
		return nil, d.reason(err)
	}
	return out, nil
}

// call opens the stream and does the dialer's part of the handshake on it.
func (out *outgoing) call(life context.Context, party handshake.Party) error {
	desc := streamDesc(nil)
	stream, err := out.conn.NewStream(life, &desc, fullMethod)
	if err != nil {
		return bare(err)
	}
	out.stream = stream
	return shake(stream, party.Dial)
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
	return c, err
}

// reason returns why no connection stands, or else err.
func (d *dialer) reason(err error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil && !errors.Is(d.err, context.Canceled) {
		return delivery.Bare(d.err)
	}
	return err
}
