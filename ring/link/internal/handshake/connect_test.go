package handshake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/token"
)

// watched is a connection that knows whether it is closed.
type watched struct {
	net.Conn
	closed bool
}

func (w *watched) Close() error {
	w.closed = true
	return w.Conn.Close()
}

// memNetwork is a world in memory. A dialled connection arrives in the rank's inbox.
type memNetwork struct {
	token   token.Token
	inboxes []chan net.Conn
}

func newMemNetwork(p int) *memNetwork {
	w := &memNetwork{token: token.New()}
	for range p {
		w.inboxes = append(w.inboxes, make(chan net.Conn))
	}
	return w
}

func (n *memNetwork) identity(rank int) Identity {
	m := ring.Membership{JobID: "job-1", Generation: 3, Rank: rank}
	for i := range n.inboxes {
		m.Workers = append(m.Workers, ring.Worker{Rank: i, Addr: fmt.Sprintf("host-%d:1", i), Incarnation: uint64(100 + i)})
	}
	return Identity{m, n.token}
}

// dial puts one end of a connection into the inbox of the rank at addr and returns the other end.
func (n *memNetwork) dial(ctx context.Context, addr string) (net.Conn, error) {
	var rank int
	if _, err := fmt.Sscanf(addr, "host-%d:1", &rank); err != nil {
		return nil, err
	}
	ours, theirs := net.Pipe()
	select {
	case n.inboxes[rank] <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// connect opens the routes of a rank.
func (n *memNetwork) connect(ctx context.Context, rank int, routes []ring.Route) (out, in []net.Conn, err error) {
	next := func(ctx context.Context) (net.Conn, error) {
		select {
		case c := <-n.inboxes[rank]:
			return c, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return Connect(ctx, n.identity(rank), routes, n.dial, next)
}

// TestConnect opens a ring and pairs among three workers that start one second after
// another. It verifies that all connect, that each connection belongs to its route, and
// that an early connection is not refused.
func TestConnect(t *testing.T) {
	pair := func(peer int) ring.Route { return ring.Route{Stream: 1, To: peer, From: peer} }
	routes := [][]ring.Route{
		{{To: 1, From: 2}, pair(2), {Stream: 2, To: -1, From: 1}},
		{{To: 2, From: 0}, {Stream: 9, To: -1, From: -1}, {Stream: 2, To: 0, From: -1}},
		{pair(0), {To: 0, From: 1}},
	}
	synctest.Test(t, func(t *testing.T) {
		w := newMemNetwork(3)
		type met struct{ out, in []net.Conn }
		all := make([]chan met, 3)
		for rank := range all {
			all[rank] = make(chan met, 1)
			go func() {
				time.Sleep(time.Duration(rank) * time.Second)
				out, in, err := w.connect(t.Context(), rank, routes[rank])
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
				all[rank] <- met{out, in}
			}()
		}
		var ins [3][]net.Conn
		for rank := range all {
			m := <-all[rank]
			ins[rank] = m.in
			for i, r := range routes[rank] {
				if (m.out[i] != nil) != (r.To >= 0) || (m.in[i] != nil) != (r.From >= 0) {
					t.Fatalf("rank %d, route %+v: connections %v, %v", rank, r, m.out[i], m.in[i])
				}
				if m.out[i] != nil {
					go fmt.Fprintf(m.out[i], "%d-%d-%d\n", rank, r.To, r.Stream)
				}
			}
		}
		for rank, in := range ins {
			for i, r := range routes[rank] {
				if in[i] == nil {
					continue
				}
				var got string
				fmt.Fscanln(in[i], &got)
				if want := fmt.Sprintf("%d-%d-%d", r.From, rank, r.Stream); got != want {
					t.Errorf("rank %d, route %+v: received %q, want %q", rank, r, got, want)
				}
			}
		}
	})
}

// TestConnectMissing verifies that the error after a timeout names each missing worker once,
// those that were dialled with the reason, and separates these from workers that did not
// connect.
func TestConnectMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newMemNetwork(5)
		cause := errors.New("start timeout")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
		defer cancel()
		_, _, err := w.connect(ctx, 0, []ring.Route{{To: 1, From: 4}, {Stream: 1, To: 2, From: 2}, {Stream: 2, To: 2, From: 3}})
		var named []string
		for _, part := range strings.Split(fmt.Sprint(err), "; ") {
			named = append(named, part[:strings.Index(part, " (host")])
		}
		var want []string
		for _, missing := range []string{"handshake 0, step 0, peer rank 1", "handshake 0, step 0, peer rank 2",
			"accept 0, step 0, peer rank 4", "accept 0, step 0, peer rank 3"} {
			want = append(want, "ring: "+missing)
		}
		if !slices.Equal(named, want) || !errors.Is(err, cause) || exitcode.Of(err) != exitcode.Retry {
			t.Errorf("error %v names %q, want %q, exitcode.Retry and the cause", err, named, want)
		}
	})
}

// TestConnectFails verifies that a connection that fails for good cancels the others and
// closes those that are open, and that the error is its own and not that of a cancelled one.
func TestConnectFails(t *testing.T) {
	bad := exitcode.With(exitcode.Protocol, errors.New("bad"))
	broken := errors.New("the door is broken")
	w := newMemNetwork(3)
	p := w.identity(0)
	routes := []ring.Route{{To: 1, From: 2}, {Stream: 1, To: 2, From: -1}}
	for name, fails := range map[string]bool{"dial": true, "door": false} {
		ours, theirs := net.Pipe()
		got := &watched{Conn: ours}
		joined := make(chan struct{})
		_, _, err := Connect(t.Context(), p, routes,
			func(ctx context.Context, addr string) (net.Conn, error) {
				if addr == p.Membership.Workers[1].Addr {
					go func() {
						w.identity(1).Accept(theirs, func(Peer) error { return nil })
						close(joined)
					}()
					return got, nil
				}
				<-joined
				if fails {
					return nil, bad
				}
				<-ctx.Done()
				return nil, context.Cause(ctx)
			},
			func(ctx context.Context) (net.Conn, error) {
				<-joined
				if fails {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return nil, broken
			})
		if fails && !errors.Is(err, bad) || !fails && err != broken || errors.Is(err, errCancelled) {
			t.Errorf("%s fails: error %v, want its own only", name, err)
		}
		if !got.closed {
			t.Errorf("%s fails: what was opened stays open", name)
		}
	}
}
