package tcplink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/internal/handshake"
	"ringtrain/ring/link/linktest"
	"ringtrain/ring/port"
	"ringtrain/ring/token"
)

// TestHandshake verifies that workers find each other and that strangers are refused.
func TestHandshake(t *testing.T) {
	for name, test := range map[string]func(*testing.T, *network){
		"case=strangers":       testStrangers,
		"case=clear":           testClear,
		"case=twice":           testTwice,
		"case=missing":         testMissingNeighbours,
		"case=token":           testWrongToken,
		"case=next generation": testNextGeneration,
		"case=bad routes":      testBadRoutes,
	} {
		t.Run(name, func(t *testing.T) { test(t, &network{mode: local, token: token.New()}) })
	}
}

// openResult is the result of network.Open.
type openResult struct {
	links []ring.Link
	err   error
}

// openAsync opens a worker's links of the ring in a goroutine and sends the result.
func openAsync(ctx context.Context, n *network, m ring.Membership, secret token.Token) <-chan openResult {
	return openRoutesAsync(ctx, n, m, secret, linktest.RingRoutes(m.Size())[m.Rank])
}

func openRoutesAsync(ctx context.Context, n *network, m ring.Membership, secret token.Token, routes []ring.Route) <-chan openResult {
	ch := make(chan openResult, 1)
	go func() {
		links, err := n.Open(ctx, m, secret, routes)
		ch <- openResult{links, err}
	}()
	return ch
}

// checkOpen waits for both ends of a world of two, sends frames each way and closes
// the links.
func checkOpen(t *testing.T, ends ...<-chan openResult) {
	t.Helper()
	var links [][]ring.Link
	for rank, ch := range ends {
		o := <-ch
		if o.err != nil {
			t.Fatalf("rank %d: %v", rank, o.err)
		}
		links = append(links, o.links)
	}
	defer linktest.CloseAll(links)
	if err := linktest.Exchange(linktest.RingRoutes(len(ends)), links); err != nil {
		t.Fatal(err)
	}
}

// knock dials rank 1 of m as rank m.Rank, and returns the acceptor's refusal, or why there is none. The
// connection ends with the test.
func knock(t *testing.T, m ring.Membership, secret token.Token, stream uint8) error {
	t.Helper()
	socket, err := net.Dial("tcp", m.Workers[1].Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	r := handshake.Identity{Membership: m}.Request(token.Link, handshake.Peer{Rank: 1, Stream: stream})
	_, _, err = secret.DialClear(t.Context(), socket, r)
	return err
}

// testStrangers sends wrong dialers to rank 1 of 2 while it waits for rank 0. It verifies that
// each is refused in the right words, and that rank 0 can connect after them.
func testStrangers(t *testing.T, n *network) {
	changes := []struct {
		name   string
		change func(m *ring.Membership)
		token  token.Token
		stream uint8
		want   string
	}{
		{"job", func(m *ring.Membership) { m.JobID = "other" }, n.token, 0, `job id is "other", want "job-1"`},
		{"generation", func(m *ring.Membership) { m.Generation = 7 }, n.token, 0, "generation is 7, want 1"},
		{"life", func(m *ring.Membership) { m.Life[0] = 1 }, n.token, 0, "life is 01000000, want 00000000"},
		{"issuer", func(m *ring.Membership) { m.Issuer = 7 }, n.token, 0, "generation 1 is of rendezvous 7, want 0"},
		{"from", func(m *ring.Membership) { m.Rank = 1 }, n.token, 0, "from rank is 1, want 0"},
		{"dialer", func(m *ring.Membership) { m.Workers[0].Incarnation = 1 }, n.token, 0, "incarnation of rank 0 is 0x1, want 0x64"},
		{"acceptor", func(m *ring.Membership) { m.Workers[1].Incarnation = 1 }, n.token, 0, "incarnation of rank 1 is 0x1, want 0x65"},
		{"stream", func(*ring.Membership) {}, n.token, 3, "stream is 3, want 0"},
		{"token", func(*ring.Membership) {}, token.Token{}, 0, "another token"},
	}
	ctx := endingIn(t, 10*time.Second)
	members := world(t, n, 2)
	one := openAsync(ctx, n, members[1], n.token)
	for _, c := range changes {
		m := members[0]
		m.Workers = slices.Clone(m.Workers)
		c.change(&m)
		if err := knock(t, m, c.token, c.stream); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("wrong %s: error %v, want %q", c.name, err, c.want)
		}
	}
	checkOpen(t, openAsync(ctx, n, members[0], n.token), one)
}

// testClear verifies that a link in clear from another host is refused where links use TLS, whatever
// its dialer says.
func testClear(t *testing.T, n *network) {
	n.mode = tls
	ctx := endingIn(t, 10*time.Second)
	members := world(t, n, 2)
	one := openAsync(ctx, n, members[1], n.token)
	if err := knock(t, members[0], n.token, 0); err == nil || !strings.Contains(err.Error(), "want TLS") {
		t.Errorf("error %v, want a refusal for TLS", err)
	}
	checkOpen(t, openAsync(ctx, n, members[0], n.token), one)
}

// testTwice verifies that a later connection of a rank replaces an earlier one, which the rank has
// given up.
func testTwice(t *testing.T, n *network) {
	ctx := endingIn(t, 10*time.Second)
	members := world(t, n, 3)
	one := openRoutesAsync(ctx, n, members[1], n.token, []ring.Route{{To: -1, From: 0}, {To: -1, From: 2}})
	for range 2 {
		if err := knock(t, members[0], n.token, 0); err != nil {
			t.Fatal(err)
		}
	}
	to := []ring.Route{{To: 1, From: -1}}
	zero, two := <-openRoutesAsync(ctx, n, members[0], n.token, to), <-openRoutesAsync(ctx, n, members[2], n.token, to)
	o := <-one
	if err := errors.Join(zero.err, two.err, o.err); err != nil {
		t.Fatal(err)
	}
	defer linktest.CloseAll([][]ring.Link{zero.links, two.links, o.links})
	if err := zero.links[0].Send(ctx, data(0, []byte{5})); err != nil {
		t.Fatal(err)
	}
	if f, err := o.links[0].Recv(ctx, make([]byte, 1)); err != nil || f.Payload[0] != 5 {
		t.Errorf("received %v, %v, want what the last connection of rank 0 carries", f.Payload, err)
	}
}

// testMissingNeighbours verifies that a worker whose neighbours are absent waits no longer
// than its context, and that the error names all of them with the reasons.
func testMissingNeighbours(t *testing.T, n *network) {
	members := world(t, n, 4)
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
	ch := openRoutesAsync(ctx, n, m, n.token, []ring.Route{{To: 1, From: 3}, {Stream: 1, To: -1, From: 2}})
	stray := members[3]
	stray.Workers = slices.Clone(stray.Workers)
	stray.Workers[1].Addr = m.Self().Addr
	if err := knock(t, stray, n.token, 0); err == nil {
		t.Error("a dialer of rank 1 passed for one of rank 0")
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

// testWrongToken puts a stranger with another token at the place of rank 1 until the right
// worker comes. It verifies that rank 0 and the stranger both wait until their contexts end,
// and that the stranger's error names the token.
func testWrongToken(t *testing.T, n *network) {
	members := world(t, n, 2)
	zero := openAsync(endingIn(t, 10*time.Second), n, members[0], n.token)
	serve := func(secret token.Token) {
		n.ports[1].Close()
		p, err := port.Listen(members[1].Self().Addr, secret)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		n.ports[1] = p
	}
	other := token.New()
	serve(other)
	o := <-openAsync(endingIn(t, time.Second), n, members[1], other)
	if exitcode.Of(o.err) != exitcode.Retry || !strings.Contains(fmt.Sprint(o.err), "has another token ("+n.token.ID().String()) {
		t.Errorf("the stranger's error is %v (code %d), want exitcode.Retry and the token", o.err, exitcode.Of(o.err))
	}
	serve(n.token)
	checkOpen(t, zero, openAsync(endingIn(t, 10*time.Second), n, members[1], n.token))
}

// testNextGeneration verifies that a listener can serve the next generation after an Open
// that succeeded and after one that gave up.
func testNextGeneration(t *testing.T, n *network) {
	members := world(t, n, 2)
	for generation := uint64(1); generation <= 3; generation++ {
		members[0].Generation, members[1].Generation = generation, generation
		if generation == 2 {
			if o := <-openAsync(endingIn(t, 20*time.Millisecond), n, members[1], n.token); o.err == nil {
				t.Fatal("rank 1 opened a link alone")
			}
		}
		ctx := endingIn(t, 10*time.Second)
		checkOpen(t, openAsync(ctx, n, members[0], n.token), openAsync(ctx, n, members[1], n.token))
	}
}

// testBadRoutes verifies that Open panics at mistakes in the routes: else it would wait in
// vain.
func testBadRoutes(t *testing.T, n *network) {
	m := world(t, n, 3)[0]
	for name, routes := range map[string][]ring.Route{
		"world": {{To: 3, From: 1}}, "self": {{To: 1, From: 0}}, "twice": {{To: 1, From: 2}, {To: 1, From: -1}},
	} {
		panicked := func() (p bool) {
			defer func() { p = recover() != nil }()
			n.Open(t.Context(), m, n.token, routes)
			return false
		}()
		if !panicked {
			t.Errorf("routes=%s: no panic", name)
		}
	}
}
