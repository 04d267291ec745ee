package handshake

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/port"
	"ringtrain/ring/token"
)

// TestMain verifies that no goroutine is left.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// watched is a connection that knows whether it is closed.
type watched struct {
	net.Conn
	closed atomic.Bool
}

func (w *watched) Close() error {
	w.closed.Store(true)
	return w.Conn.Close()
}

// memNetwork is a world in memory: of each rank a port, and what the port listens on.
type memNetwork struct {
	token token.Token
	doors []*memListener
	ports []*port.Port
}

func newMemNetwork(t *testing.T, p int) *memNetwork {
	t.Helper()
	w := &memNetwork{token: token.New()}
	for range p {
		lis := &memListener{conns: make(chan net.Conn), done: make(chan struct{})}
		prt, err := port.Serve(lis, w.token)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { prt.Close() })
		prt.Links()
		w.doors, w.ports = append(w.doors, lis), append(w.ports, prt)
	}
	return w
}

// memListener hands out connections of net.Pipe.
type memListener struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *memListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *memListener) Close() error   { close(l.done); return nil }
func (l *memListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (n *memNetwork) identity(rank int) Identity {
	m := ring.Membership{JobID: "job-1", Generation: 3, Rank: rank}
	for i := range n.doors {
		m.Workers = append(m.Workers, ring.Worker{Rank: i, Addr: fmt.Sprintf("host-%d:1", i), Incarnation: uint64(100 + i)})
	}
	return Identity{Membership: m, Token: n.token, Clear: true}
}

// dial puts one end of a connection before the port of the rank at addr and returns the other end.
func (n *memNetwork) dial(ctx context.Context, addr string) (net.Conn, error) {
	var rank int
	if _, err := fmt.Sscanf(addr, "host-%d:1", &rank); err != nil {
		return nil, err
	}
	ours, theirs := net.Pipe()
	select {
	case n.doors[rank].conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// connect opens the routes of a rank.
func (n *memNetwork) connect(ctx context.Context, rank int, routes []ring.Route) (out, in []*Conn, err error) {
	return n.identity(rank).Connect(ctx, routes, n.dial, n.ports[rank].Links())
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
		w := newMemNetwork(t, 3)
		type met struct{ out, in []*Conn }
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
		var ins [3][]*Conn
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
		w := newMemNetwork(t, 5)
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

// TestConnectFails verifies that a link that fails for good cancels the others and closes those that
// are open, and that the error is its own and not that of a cancelled one.
func TestConnectFails(t *testing.T) {
	bad := exitcode.With(exitcode.Protocol, errors.New("bad"))
	for _, what := range []string{"dial", "queue"} {
		w := newMemNetwork(t, 3)
		queue := w.ports[0].Links()
		var got *watched
		joined := make(chan struct{})
		go func() {
			defer close(joined)
			c, err := w.ports[1].Links().Take(t.Context())
			if err == nil {
				err = c.Answer(token.Answer{})
			}
			if err != nil {
				t.Error(err)
			}
			if what == "queue" {
				queue.Close()
			}
		}()
		_, _, err := w.identity(0).Connect(t.Context(), []ring.Route{{To: 1, From: 2}, {Stream: 1, To: 2, From: -1}},
			func(ctx context.Context, addr string) (net.Conn, error) {
				if addr == "host-1:1" {
					c, err := w.dial(ctx, addr)
					got = &watched{Conn: c}
					return got, err
				}
				<-joined
				if what == "dial" {
					return nil, bad
				}
				<-ctx.Done()
				return nil, context.Cause(ctx)
			}, queue)
		if what == "dial" && !errors.Is(err, bad) || what == "queue" && !errors.Is(err, net.ErrClosed) || errors.Is(err, errCancelled) {
			t.Errorf("%s fails: error %v, want its own only", what, err)
		}
		if !got.closed.Load() {
			t.Errorf("%s fails: what was opened stays open", what)
		}
	}
}

// TestGone verifies that a connection whose dialer has given up while it waited in the queue does not
// count, and that the dialer's next one does.
func TestGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newMemNetwork(t, 2)
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := w.connect(soon, 0, []ring.Route{{To: 1, From: -1}}); err == nil {
			t.Fatal("rank 0 has a link before rank 1 takes any")
		}
		again := make(chan *Conn, 1)
		go func() {
			time.Sleep(time.Second)
			out, _, err := w.connect(t.Context(), 0, []ring.Route{{To: 1, From: -1}})
			if err != nil {
				t.Error(err)
			}
			again <- out[0]
		}()
		_, in, err := w.connect(t.Context(), 1, []ring.Route{{To: -1, From: 0}})
		if err != nil {
			t.Fatal(err)
		}
		go fmt.Fprintln(<-again, "here")
		var got string
		fmt.Fscanln(in[0], &got)
		if got != "here" {
			t.Errorf("received %q, want what the dialer's last connection carries", got)
		}
	})
}

// TestWithin verifies what counts as within a host: one host id, and one address at both ends.
func TestWithin(t *testing.T) {
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	near, err := net.Dial("tcp", lis.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	far, pipe := net.Pipe()
	defer far.Close()
	defer pipe.Close()
	for _, tt := range []struct {
		socket net.Conn
		id     string
		want   bool
	}{{near, "a", true}, {near, "b", false}, {far, "a", false}} {
		m := ring.Membership{Workers: []ring.Worker{{HostID: "a"}, {Rank: 1, HostID: tt.id}}}
		if got := (Identity{Membership: m}).within(tt.socket, Peer{Rank: 1}); got != tt.want {
			t.Errorf("socket %v, host ids a and %s: within is %v, want %v", tt.socket.LocalAddr(), tt.id, got, tt.want)
		}
	}
}
