package linktest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/internal/handshake"
	"ringtrain/ring/token"
)

// Handshake tests how the workers of a network find each other, and whom they
// keep out. network returns a new one for each case.
func Handshake(t *testing.T, network func() Network) {
	for name, test := range map[string]func(*testing.T, Network){
		"case=strangers":       testStrangers,
		"case=twice":           testTwice,
		"case=missing":         testMissingNeighbours,
		"case=token":           testWrongToken,
		"case=next generation": testNextGeneration,
		"case=bad routes":      testBadRoutes,
	} {
		t.Run(name, func(t *testing.T) { test(t, network()) })
	}
}

// opened is what Network.Open returned.
type opened struct {
	links []ring.Link
	err   error
}

// opening opens the ring's links of a worker and delivers what Open returns.
func opening(ctx context.Context, n Network, m ring.Membership, secret token.Token) <-chan opened {
	return openingRoutes(ctx, n, m, secret, ringRoutes(m.Size())[m.Rank])
}

func openingRoutes(ctx context.Context, n Network, m ring.Membership, secret token.Token, routes []ring.Route) <-chan opened {
	ch := make(chan opened, 1)
	go func() {
		links, err := n.Open(ctx, m, secret, routes)
		ch <- opened{links, err}
	}()
	return ch
}

// meet waits for both ends of a world of two, sends frames each way and closes
// the links.
func meet(t *testing.T, ends ...<-chan opened) {
	t.Helper()
	var links [][]ring.Link
	for rank, ch := range ends {
		o := <-ch
		if o.err != nil {
			t.Fatalf("rank %d: %v", rank, o.err)
		}
		links = append(links, o.links)
	}
	defer closeAll(links)
	if err := exchange(ringRoutes(len(ends)), links); err != nil {
		t.Fatal(err)
	}
}

// stranger is the dialer's part of a handshake: rank 0 of m dials rank 1.
func stranger(m ring.Membership, secret token.Token, stream uint8) func(io.ReadWriter) error {
	return func(rw io.ReadWriter) error {
		return handshake.Identity{Membership: m, Token: secret}.Dial(rw, handshake.Peer{Rank: 1, Stream: stream})
	}
}

// testStrangers sends to rank 1 of 2 whoever must not get in, while it waits for
// rank 0. It fails if a stranger is not refused in the right words, or if rank 0
// does not get in after them.
func testStrangers(t *testing.T, n Network) {
	secret := token.New()
	changes := []struct {
		name   string
		change func(m *ring.Membership)
		token  token.Token
		stream uint8
		want   string
	}{
		{"job", func(m *ring.Membership) { m.JobID = "other" }, secret, 0, `job id is "other", want "job-1"`},
		{"generation", func(m *ring.Membership) { m.Generation = 7 }, secret, 0, "generation is 7, want 1"},
		{"from", func(m *ring.Membership) { m.Rank = 1 }, secret, 0, "from rank is 1, want 0"},
		{"dialer", func(m *ring.Membership) { m.Workers[0].Incarnation = 1 }, secret, 0, "incarnation of rank 0 is 0x1, want 0x64"},
		{"acceptor", func(m *ring.Membership) { m.Workers[1].Incarnation = 1 }, secret, 0, "incarnation of rank 1 is 0x1, want 0x65"},
		{"stream", func(*ring.Membership) {}, secret, 3, "stream is 3, want 0"},
		{"token", func(*ring.Membership) {}, token.Token{}, 0, "another token"},
	}
	ctx := within(t, 10*time.Second)
	members := World(t, n, 2)
	one := opening(ctx, n, members[1], secret)
	addr := members[1].Self().Addr
	for _, c := range changes {
		m := members[0]
		m.Workers = slices.Clone(m.Workers)
		c.change(&m)
		if err := n.Knock(t, addr, stranger(m, c.token, c.stream)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("wrong %s: error %v, want %q", c.name, err, c.want)
		}
	}
	hello := "RTL\x01\x5b\x00\x01\x00"
	for _, s := range []string{"", "x", "GET / HTTP/1.1\r\n\r\n", "RTL\x01", hello, "RTL\x01\xff\xff",
		hello + strings.Repeat("\x00", 400), strings.Repeat("x", 1<<16)} {
		n.Knock(t, addr, func(rw io.ReadWriter) error { // and says nothing more, but stays
			_, err := rw.Write([]byte(s))
			return err
		})
	}
	meet(t, opening(ctx, n, members[0], secret), one)
}

// testTwice fails if somebody who has joined can be supplanted by another
// connection of the same name, or if that one is not told why it is refused.
func testTwice(t *testing.T, n Network) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	members := World(t, n, 3)
	one := openingRoutes(ctx, n, members[1], token.Token{}, []ring.Route{{To: -1, From: 0}, {To: -1, From: 2}})
	addr := members[1].Self().Addr
	if err := n.Knock(t, addr, stranger(members[0], token.Token{}, 0)); err != nil {
		t.Fatal(err)
	}
	// The first one has joined once the acceptor has read its proof. Until then
	// the second is let in at first, and closed afterwards.
	want := "rank 0 has joined already (stream 0)"
	for {
		err := n.Knock(t, addr, stranger(members[0], token.Token{}, 0))
		if err != nil {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %q", err, want)
			}
			break
		}
	}
	cancel()
	if o := <-one; o.err == nil || strings.Contains(o.err.Error(), "peer rank 0") {
		t.Errorf("error %v, want one about rank 2 only", o.err)
	}
}

// testMissingNeighbours fails if a worker whose neighbours are not there waits for longer
// than its context, or does not name them all with the reasons.
func testMissingNeighbours(t *testing.T, n Network) {
	members := World(t, n, 4)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	m := members[0]
	m.Workers = slices.Clone(m.Workers)
	m.Workers[1].Addr = closed.Addr().String()
	cause := errors.New("start timeout")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, cause)
	defer cancel()
	ch := openingRoutes(ctx, n, m, token.Token{}, []ring.Route{{To: 1, From: 3}, {Stream: 1, To: -1, From: 2}})
	if err := n.Knock(t, m.Self().Addr, stranger(members[3], token.Token{}, 0)); err == nil {
		t.Error("who wanted rank 1 passed for who wants rank 0")
	}
	o := <-ch
	pe, ok := errors.AsType[*ring.PeerError](o.err)
	if !ok || pe.Op != "handshake" || pe.Rank != 1 || exitcode.Of(o.err) != exitcode.Retry || !errors.Is(o.err, cause) {
		t.Errorf("error %v (code %d), want a PeerError of rank 1 with exitcode.Retry and the cause", o.err, exitcode.Of(o.err))
	}
	for _, want := range []string{
		"peer rank 1 (" + closed.Addr().String() + ")", "connection refused",
		"peer rank 3 (" + m.Workers[3].Addr + ")", "did not connect", "this is rank 0, not rank 1",
		"peer rank 2 (" + m.Workers[2].Addr + ")",
	} {
		if !strings.Contains(fmt.Sprint(o.err), want) {
			t.Errorf("error %q, want %q in it", o.err, want)
		}
	}
}

// testWrongToken has a stranger at the place of rank 1, with another token, until the
// right one comes. It fails if rank 0 gives up before, or if the stranger does not wait
// as well, or is not told in the end whom it has met.
func testWrongToken(t *testing.T, n Network) {
	members, secret := World(t, n, 2), token.New()
	zero := opening(within(t, 10*time.Second), n, members[0], secret)
	o := <-opening(within(t, 200*time.Millisecond), n, members[1], token.New())
	if exitcode.Of(o.err) != exitcode.Retry || !strings.Contains(fmt.Sprint(o.err), "another token") {
		t.Errorf("the stranger's error is %v (code %d), want exitcode.Retry and the token", o.err, exitcode.Of(o.err))
	}
	meet(t, zero, opening(within(t, 10*time.Second), n, members[1], secret))
}

// testNextGeneration fails if a door cannot serve the next generation, after an
// Open that succeeded or one that gave up.
func testNextGeneration(t *testing.T, n Network) {
	members := World(t, n, 2)
	for generation := uint64(1); generation <= 3; generation++ {
		members[0].Generation, members[1].Generation = generation, generation
		if generation == 2 {
			if o := <-opening(within(t, 20*time.Millisecond), n, members[1], token.Token{}); o.err == nil {
				t.Fatal("rank 1 opened a link alone")
			}
		}
		ctx := within(t, 10*time.Second)
		meet(t, opening(ctx, n, members[0], token.Token{}), opening(ctx, n, members[1], token.Token{}))
	}
}

// testBadRoutes fails if a caller's mistake in the routes shows only as a wait
// that does not end.
func testBadRoutes(t *testing.T, n Network) {
	m := World(t, n, 3)[0]
	for name, routes := range map[string][]ring.Route{
		"world": {{To: 3, From: 1}}, "self": {{To: 1, From: 0}}, "twice": {{To: 1, From: 2}, {To: 1, From: -1}},
	} {
		panicked := func() (p bool) {
			defer func() { p = recover() != nil }()
			n.Open(t.Context(), m, token.Token{}, routes)
			return false
		}()
		if !panicked {
			t.Errorf("routes=%s: no panic", name)
		}
	}
}
