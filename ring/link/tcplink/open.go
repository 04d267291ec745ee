package tcplink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/delivery"
	"ringtrain/ring/link/internal/handshake"
)

// The limits on one attempt to join a neighbour.
const (
	dialTimeout      = 2 * time.Second // until the connection stands
	handshakeTimeout = 5 * time.Second // from then until the handshake is done
)

// Config has the options of a link.
type Config struct {
	// Token is what both neighbours must have.
	Token ring.Token

	// PayloadCRC adds a CRC-32C to every payload that is sent: for connections
	// between hosts. What arrives is checked whenever it has one.
	PayloadCRC bool

	// Dial connects to an address; nil stands for a plain net.Dialer, which
	// knows no proxies.
	Dial func(ctx context.Context, addr string) (net.Conn, error)
}

// Open joins this worker to its neighbours: it dials the right one and accepts
// the left one from lis, at the same time, until both stand or ctx ends. A
// neighbour that is not there yet is dialled again; strangers on lis are
// refused without disturbing the wait.
//
// lis stays open and is the caller's; one Open at a time may use it. It must
// have SetDeadline as *net.TCPListener has; Open panics if it has not, and if
// the world has one rank only, for then there is nobody to join.
//
// The error is a *ring.PeerError with Op "handshake" that names the missing
// neighbour, with the reason of the last attempt or who came instead
// (exitcode.Retry). Another token is exitcode.Auth, another protocol version
// exitcode.Protocol; these two end Open at once.
func Open(ctx context.Context, m ring.Membership, lis net.Listener, c Config) (ring.Link, error) {
	if m.Size() < 2 {
		panic("tcplink: a world of one rank has no link")
	}
	party := handshake.Party{Membership: m, Token: c.Token}
	if err := party.Check(); err != nil {
		return nil, err
	}
	if c.Dial == nil {
		c.Dial = dialTCP
	}
	out, in, err := handshake.Both(ctx,
		func(ctx context.Context) (net.Conn, error) {
			return handshake.Retry(ctx, m.Right(), func(ctx context.Context) (net.Conn, error) {
				return dialRight(ctx, party, c)
			})
		},
		func(ctx context.Context) (net.Conn, error) { return acceptLeft(ctx, party, lis) })
	if err != nil {
		return nil, err
	}
	return newLink(m, out, in, c.PayloadCRC), nil
}

func dialTCP(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

// dialRight makes one attempt to join the right neighbour.
func dialRight(ctx context.Context, party handshake.Party, c Config) (net.Conn, error) {
	attempt, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := c.Dial(attempt, party.Membership.Right().Addr)
	if err != nil {
		return nil, delivery.Bare(err)
	}
	if err := shake(ctx, conn, party.Dial); err != nil {
		conn.Close()
		return nil, err
	}
	return tune(conn), nil
}

// shake does one side's part of a handshake within handshakeTimeout and ctx.
func shake(ctx context.Context, c net.Conn, part func(rw handshake.Conn) error) error {
	c.SetDeadline(time.Now().Add(handshakeTimeout))
	stop := context.AfterFunc(ctx, func() { c.SetDeadline(longAgo) })
	err := part(c)
	if !stop() {
		return context.Cause(ctx)
	}
	c.SetDeadline(time.Time{})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("no answer within %v: %w", handshakeTimeout, os.ErrDeadlineExceeded)
	}
	if err != nil {
		return delivery.Bare(err)
	}
	return nil
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)
