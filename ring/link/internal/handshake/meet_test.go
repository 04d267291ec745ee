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

// guestStub is a connection in memory that has come in.
type guestStub struct {
	net.Conn
	closed bool
}

func (g *guestStub) From() string { return "10.0.0.9:2" }

func (g *guestStub) Shake(_ context.Context, part func(Conn) error) error { return part(g.Conn) }

func (g *guestStub) Close() error {
	g.closed = true
	return g.Conn.Close()
}

// town is a world in memory: whoever dials a rank arrives at its door.
type town struct {
	token token.Token
	doors []chan *guestStub
}

func newTown(p int) *town {
	w := &town{token: token.New()}
	for range p {
		w.doors = append(w.doors, make(chan *guestStub))
	}
	return w
}

func (w *town) party(rank int) Party {
	m := ring.Membership{JobID: "job-1", Generation: 3, Rank: rank}
	for i := range w.doors {
		m.Workers = append(m.Workers, ring.Worker{Rank: i, Addr: fmt.Sprintf("host-%d:1", i), Incarnation: uint64(100 + i)})
	}
	return Party{m, w.token}
}

// knock arrives at a door with a connection; the other end is returned.
func (w *town) knock(ctx context.Context, door int) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case w.doors[door] <- &guestStub{Conn: theirs}:
		return ours, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// meet opens the routes of a rank.
func (w *town) meet(ctx context.Context, rank int, routes []ring.Route) ([]net.Conn, []*guestStub, error) {
	p := w.party(rank)
	dial := func(ctx context.Context, to Peer) (net.Conn, error) {
		c, err := w.knock(ctx, to.Rank)
		if err == nil {
			err = p.Dial(c, to)
		}
		return c, err
	}
	next := func(ctx context.Context) (*guestStub, error) {
		select {
		case g := <-w.doors[rank]:
			return g, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return Meet(ctx, p, routes, dial, next)
}

// TestMeet opens a ring and rounds of pairs among three workers that come one
// second after another. It fails if they do not all meet, if a connection is
// that of another route, or if one that comes early is turned away.
func TestMeet(t *testing.T) {
	pair := func(peer int) ring.Route { return ring.Route{Stream: 1, To: peer, From: peer} }
	routes := [][]ring.Route{
		{{To: 1, From: 2}, pair(2), {Stream: 2, To: -1, From: 1}},
		{{To: 2, From: 0}, {Stream: 9, To: -1, From: -1}, {Stream: 2, To: 0, From: -1}},
		{pair(0), {To: 0, From: 1}},
	}
	synctest.Test(t, func(t *testing.T) {
		w := newTown(3)
		type met struct {
			out []net.Conn
			in  []*guestStub
		}
		all := make([]chan met, 3)
		for rank := range all {
			all[rank] = make(chan met, 1)
			go func() {
				time.Sleep(time.Duration(rank) * time.Second)
				out, in, err := w.meet(t.Context(), rank, routes[rank])
				if err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
				all[rank] <- met{out, in}
			}()
		}
		var ins [3][]*guestStub
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
				fmt.Fscanln(in[i].Conn, &got)
				if want := fmt.Sprintf("%d-%d-%d", r.From, rank, r.Stream); got != want {
					t.Errorf("rank %d, route %+v: received %q, want %q", rank, r, got, want)
				}
			}
		}
	})
}

// TestMeetNames fails if the error of a worker that waited in vain does not
// name each of the missing once, those that it dialled with the reason, and tell
// those that it dialled from those that did not come.
func TestMeetNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newTown(5)
		cause := errors.New("start timeout")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, cause)
		defer cancel()
		_, _, err := w.meet(ctx, 0, []ring.Route{{To: 1, From: 4}, {Stream: 1, To: 2, From: 2}, {Stream: 2, To: 2, From: 3}})
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

// TestMeetEnds fails if a connection goes on when another has failed for good,
// if what it got stays open, or if the error is that of one that was only
// called off.
func TestMeetEnds(t *testing.T) {
	bad := exitcode.With(exitcode.Protocol, errors.New("bad"))
	broken := errors.New("the door is broken")
	w := newTown(3)
	p := w.party(0)
	routes := []ring.Route{{To: 1, From: 2}, {Stream: 1, To: 2, From: -1}}
	for name, fails := range map[string]bool{"dial": true, "door": false} {
		ours, _ := net.Pipe()
		got := &guestStub{Conn: ours}
		joined := make(chan struct{})
		_, _, err := Meet(t.Context(), p, routes,
			func(ctx context.Context, to Peer) (*guestStub, error) {
				if to.Rank == 1 {
					close(joined)
					return got, nil
				}
				<-joined
				if fails {
					return nil, bad
				}
				<-ctx.Done()
				return nil, context.Cause(ctx)
			},
			func(ctx context.Context) (*guestStub, error) {
				<-joined
				if fails {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return nil, broken
			})
		if fails && !errors.Is(err, bad) || !fails && err != broken || errors.Is(err, errCalledOff) {
			t.Errorf("%s fails: error %v, want its own only", name, err)
		}
		if !got.closed {
			t.Errorf("%s fails: what was opened stays open", name)
		}
	}
}
