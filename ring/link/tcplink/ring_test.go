package tcplink

import (
	"context"
	"io"
	"net"
	"testing"

	"go.uber.org/goleak"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
	"ringtrain/ring/port"
	"ringtrain/ring/token"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// network is a linktest.Network of workers with ports on loopback.
type network struct {
	config Config
	lis    []net.Listener
	ports  []*port.Port
}

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

func (n *network) Open(ctx context.Context, m ring.Membership, secret token.Token, routes []ring.Route) ([]ring.Link, error) {
	c := n.config
	c.Token = secret
	return Open(ctx, m, n.lis[m.Rank], c, routes)
}

func (n *network) Knock(t testing.TB, addr string, part func(io.ReadWriter) error) error {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return part(conn)
}

// openRing opens the links of a ring of p ranks.
func openRing(t testing.TB, p int, c Config) []ring.Link {
	t.Helper()
	return linktest.OpenRing(t, &network{config: c}, p)
}

// stage returns a link whose neighbours are played by the test.
func stage(t *testing.T, c Config) (s linktest.Stage, left, right *net.TCPConn) {
	t.Helper()
	in, left := tcpPair(t)
	right, out := tcpPair(t)
	m := ring.Membership{JobID: "job-1", Generation: linktest.Generation, Rank: 1, Workers: []ring.Worker{
		{Rank: 0, Addr: "left:1"}, {Rank: 1}, {Rank: 2, Addr: "right:2"},
	}}
	c.PayloadCRC = true
	l := newLink(m, ring.Route{To: 2, From: 0}, c.socket(out), c.readConn(in), c)
	t.Cleanup(func() { l.Close() })
	return linktest.Stage{Link: l, Membership: m, Left: wire{left}, Right: wire{right}}, left, right
}

// wire is a connection that can end like that of a crashed process.
type wire struct{ *net.TCPConn }

func (w wire) Reset() {
	w.SetLinger(0)
	w.Close()
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
