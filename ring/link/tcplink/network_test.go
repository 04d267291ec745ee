package tcplink

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
	"ringtrain/ring/port"
	"ringtrain/ring/token"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testTimeout bounds each test. A test that runs longer is stuck.
const testTimeout = 30 * time.Second

// mode is a way in which frames travel.
type mode struct {
	Config
	name   string
	apart  bool // each worker is on a host of its own
	shared bool // a ring of two shares a connection
}

// The modes of links. All tests use loopback; a host id of its own makes a worker a host.
var (
	local = mode{Config{Spin: DefaultSpin}, "local", false, false}
	auth  = mode{Config{Spin: DefaultSpin, Clear: true}, "auth", true, false}
	tls   = mode{Config{Spin: DefaultSpin}, "tls", true, false}
)

func (m mode) spinning(n int) mode { m.Spin = n; return m }

func (m mode) sharing() mode { m.shared = true; return m }

func (m mode) dialing(dial func(ctx context.Context, addr string) (net.Conn, error)) mode {
	m.Dial = dial
	return m
}

// network is a network of workers in one process, each with a port of its own on loopback.
type network struct {
	mode
	token token.Token // of the ports
	ports []*port.Port
}

// Listen makes the ports of p workers, which last until the end of the test, and returns their
// addresses by rank. It is called once.
func (n *network) Listen(t testing.TB, p int) (addrs []string) {
	t.Helper()
	for range p {
		prt, err := port.Listen("127.0.0.1:0", n.token)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { prt.Close() })
		prt.Links() // takes connections from now on
		n.ports = append(n.ports, prt)
		addrs = append(addrs, prt.Addr())
	}
	return addrs
}

// Open opens the links of rank m.Rank with its port.
func (n *network) Open(ctx context.Context, m ring.Membership, secret token.Token, routes []ring.Route) ([]ring.Link, error) {
	c := n.Config
	c.Token = secret
	return Open(ctx, m, n.ports[m.Rank].Links(), c, routes)
}

// world returns the memberships of the p workers of a network, by rank. Their
// incarnations are 100 + rank.
func world(t testing.TB, n *network, p int) []ring.Membership {
	t.Helper()
	var workers []ring.Worker
	for rank, addr := range n.Listen(t, p) {
		w := ring.Worker{Rank: rank, Host: "here", Addr: addr, Incarnation: uint64(100 + rank)}
		if n.apart {
			w.HostID = addr
		}
		workers = append(workers, w)
	}
	members := make([]ring.Membership, p)
	for rank := range members {
		members[rank] = ring.Membership{JobID: "job-1", Generation: linktest.Generation, Rank: rank, Workers: workers}
	}
	return members
}

// openRoutes opens the links of each rank's routes over a network. They are closed
// after the test.
func openRoutes(t testing.TB, n *network, routes [][]ring.Route) [][]ring.Link {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	members := world(t, n, len(routes))
	links, errs := make([][]ring.Link, len(routes)), make([]error, len(routes))
	var opening sync.WaitGroup
	for rank, list := range routes {
		opening.Go(func() { links[rank], errs[rank] = n.Open(ctx, members[rank], token.Token{}, list) })
	}
	opening.Wait()
	for rank, err := range errs {
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
	}
	t.Cleanup(func() { linktest.CloseAll(links) })
	return links
}

// openRing opens the links of a ring of p ranks. They are closed after the test.
func openRing(t testing.TB, p int, how mode) []ring.Link {
	t.Helper()
	links, routes := make([]ring.Link, p), linktest.RingRoutes(p)
	for _, list := range routes {
		list[0].Shared = how.shared && p == 2
	}
	for rank, list := range openRoutes(t, &network{mode: how}, routes) {
		links[rank] = list[0]
	}
	return links
}

// endingIn returns a context that ends after d, or with the test.
func endingIn(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func tcpPair(t testing.TB) (a, b *net.TCPConn) {
	t.Helper()
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	d, err := net.Dial("tcp", lis.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := lis.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close(); c.Close() })
	return c.(*net.TCPConn), d.(*net.TCPConn)
}
