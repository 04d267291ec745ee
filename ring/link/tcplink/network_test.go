package tcplink

import (
	"context"
	"io"
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

// network is a network of workers in one process, each with a port of its own on loopback.
type network struct {
	config Config
	lis    []net.Listener
	ports  []*port.Port
}

// Listen makes the ports of p workers, which last until the end of the test, and returns their
// addresses by rank. It is called once.
func (n *network) Listen(t testing.TB, p int) (addrs []string) {
	t.Helper()
	for range p {
		prt, err := port.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { prt.Close() })
		n.lis, n.ports = append(n.lis, prt.Links()), append(n.ports, prt)
		addrs = append(addrs, prt.Addr())
	}
	return addrs
}

// Open opens the links of rank m.Rank with its port.
func (n *network) Open(ctx context.Context, m ring.Membership, secret token.Token, routes []ring.Route) ([]ring.Link, error) {
	c := n.config
	c.Token = secret
	return Open(ctx, m, n.lis[m.Rank], c, routes)
}

// Knock connects to a port and runs part over the connection, which ends with the test.
func (n *network) Knock(t testing.TB, addr string, part func(io.ReadWriter) error) error {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return part(conn)
}

// world returns the memberships of the p workers of a network, by rank. Their
// incarnations are 100 + rank.
func world(t testing.TB, n *network, p int) []ring.Membership {
	t.Helper()
	var workers []ring.Worker
	for rank, addr := range n.Listen(t, p) {
		workers = append(workers, ring.Worker{Rank: rank, Host: "here", Addr: addr, Incarnation: uint64(100 + rank)})
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
func openRing(t testing.TB, p int, c Config) []ring.Link {
	t.Helper()
	links := make([]ring.Link, p)
	for rank, list := range openRoutes(t, &network{config: c}, linktest.RingRoutes(p)) {
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
