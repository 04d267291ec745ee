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
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/internal/delivery"
	"ringtrain/ring/link/internal/handshake"
	"ringtrain/ring/token"
)

// The limits on one attempt to join a neighbour.
const (
	dialTimeout      = 2 * time.Second // until the connection stands
	handshakeTimeout = 5 * time.Second // from then until the handshake is done
)

// DefaultSpin is a good Config.Spin: some forty microseconds.
const DefaultSpin = 64

// Config has the options of a worker's links.
type Config struct {
	// Token is what both neighbours must have.
	Token token.Token

	// PayloadCRC adds a CRC-32C to every payload that is sent: for connections
	// between hosts. What arrives is checked whenever it has one.
	PayloadCRC bool

	// Repair replaces a connection that breaks, as long as both workers live: for
	// connections between hosts. Both neighbours must have the same. See the
	// package comment.
	Repair bool

	// Patience bounds a repair.
	Patience Patience

	// Repaired, if it is not nil, is told what was repaired: by the worker that
	// sends, and by the one that receives if it has dropped the connection over a
	// corrupt frame. It is called from the goroutine that the link waits for.
	Repaired func(from, to ring.Worker, why error, took time.Duration)

	// Spin is how often Recv looks for bytes before it sleeps until the kernel
	// has some; it gives its core to others in between. It is the most; a link
	// that spins in vain spins less. 0: it sleeps at once.
	Spin int

	// Streams is over how many connections the frames of a ring are dealt, 1 to
	// 4; 0 means 1. Both neighbours must have the same. Other routes have one.
	Streams int

	// Dial connects to an address; nil stands for a plain net.Dialer, which
	// knows no proxies.
	Dial func(ctx context.Context, addr string) (net.Conn, error)

	local int // workers of this one's host
}

// Open opens this worker's links, those of all routes at once: it dials whom
// they lead to and accepts whom they come from, until all stand or ctx ends. A
// worker that is not there yet is dialled again; whoever comes to lis and is
// not waited for is refused without disturbing the wait.
//
// The links are returned by route. One whose route has no From can only send,
// one without To only receive, and a route without both has a nil link.
//
// lis stays open and is the caller's; one Open at a time may use it, and with
// Config.Repair so do its links, until all are closed. It must have SetDeadline as *net.TCPListener has. Open panics if it has not, if the
// world has one rank only, and if routes do not fit the membership or each
// other.
//
// The error is a *ring.PeerError, with Op "handshake" for a worker that was
// dialled and "accept" for one that did not come, for each worker that is
// missing, with the reason of the last attempt or who came instead
// (exitcode.Retry). Another protocol version is exitcode.Protocol, which ends Open
// at once. Somebody with another token is not the neighbour, who may yet come.
func Open(ctx context.Context, m ring.Membership, lis net.Listener, c Config, routes []ring.Route) ([]ring.Link, error) {
	if m.Size() < 2 {
		panic("tcplink: a world of one rank has no link")
	}
	if c.Streams < 0 || c.Streams > maxStreams {
		return nil, exitcode.With(exitcode.Usage, fmt.Errorf("streams is %d, want 1 to %d", c.Streams, maxStreams))
	}
	if c.Dial == nil {
		c.Dial = dialTCP
	}
	_, c.local = m.Local()
	party := handshake.Party{Membership: m, Token: c.Token}
	connections := c.connections(routes)
	halves := make([]ring.Route, len(connections))
	for i, r := range connections {
		halves[i] = dialled(m.Rank, r)
	}
	out, in, err := handshake.Meet(ctx, party, halves,
		func(ctx context.Context, to handshake.Peer) (net.Conn, error) {
			return c.dial(ctx, m.Workers[to.Rank], func(rw handshake.Conn) error { return party.Dial(rw, to) })
		},
		func(ctx context.Context) (guest, error) {
			conn, err := acceptUntil(ctx, lis)
			return guest{conn}, err
		})
	if err != nil {
		return nil, err
	}
	single := make([]*link, len(connections))
	for i, r := range connections {
		switch {
		case isPaired(r):
			both := ready(cmp.Or[net.Conn](out[i], in[i].Conn), c.newBoth)
			single[i] = newLink(m, r, both, both, c)
		case out[i] != nil || in[i].Conn != nil:
			single[i] = newLink(m, r, ready(out[i], c.socket), ready(in[i].Conn, c.source), c)
		}
	}
	if c.Repair {
		c.openDoor(party, lis, connections, single)
	}
	return c.bundle(routes, single), nil
}

// openDoor lets those in again whom links come from, if there are any.
func (c Config) openDoor(party handshake.Party, lis net.Listener, connections []ring.Route, links []*link) {
	d := &door{waiting: map[handshake.Peer]*receiver{}, source: c.source}
	for i, r := range connections {
		if links[i] != nil && links[i].in != nil {
			links[i].in.rejoin.leave = d.leave
			d.waiting[handshake.Peer{Rank: r.From, Stream: r.Stream}] = links[i].in
		}
	}
	if len(d.waiting) > 0 {
		d.keep(party, lis)
	}
}

// redialer returns what replaces the connection that a route goes out by.
func (c Config) redialer(m ring.Membership, r ring.Route) *redialer {
	party, to := handshake.Party{Membership: m, Token: c.Token}, handshake.Peer{Rank: r.To, Stream: r.Stream}
	d := &redialer{Patience: c.Patience.orDefault(), repaired: c.repaired(m.Self(), m.Workers[r.To]), socket: c.socket}
	d.life, d.stop = context.WithCancel(context.Background())
	d.connect = func(ctx context.Context, oldest, newest delivery.Position) (conn net.Conn, next delivery.Position, err error) {
		conn, err = c.dial(ctx, m.Workers[r.To], func(rw handshake.Conn) (err error) {
			next, err = party.Redial(rw, to, oldest, newest)
			return err
		})
		return conn, next, err
	}
	return d
}

// rejoin returns how the connection that a route comes in by is replaced.
func (c Config) rejoin(m ring.Membership, r ring.Route) *rejoin {
	j := &rejoin{Patience: c.Patience.orDefault(), repaired: c.repaired(m.Workers[r.From], m.Self())}
	j.life, j.stop = context.WithCancel(context.Background())
	j.arrived, j.leave = make(chan struct{}, 1), func() {}
	j.probe = func(ctx context.Context) error {
		conn, err := c.Dial(ctx, m.Workers[r.From].Addr)
		if err == nil {
			err = conn.Close()
		}
		return err
	}
	return j
}

// repaired returns what is told of the repair of a link.
func (c Config) repaired(from, to ring.Worker) func(error, time.Duration) {
	return func(why error, took time.Duration) {
		if c.Repaired != nil {
			c.Repaired(from, to, delivery.Bare(why), took)
		}
	}
}

// ready makes a connection that has shaken hands ready for frames, one way; nil
// stays nil.
func ready[T net.Conn](conn net.Conn, use func(net.Conn) T) (t T) {
	if conn != nil {
		t = use(conn)
	}
	return t
}

// source returns conn, which has shaken hands, as a connection to read frames from.
func (c Config) source(conn net.Conn) net.Conn { return newSource(tune(conn, c.local), c.Spin) }

// socket returns conn, which has shaken hands, as a connection to send frames over.
func (c Config) socket(conn net.Conn) socket { return newSocket(tune(conn, c.local)) }

func dialTCP(ctx context.Context, addr string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

// dial makes one attempt to join a worker; part is the dialer's part of the
// handshake.
func (c Config) dial(ctx context.Context, to ring.Worker, part func(handshake.Conn) error) (net.Conn, error) {
	attempt, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	conn, err := c.Dial(attempt, to.Addr)
	if err != nil {
		return nil, delivery.Bare(err)
	}
	if err := shake(ctx, conn, part); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
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
