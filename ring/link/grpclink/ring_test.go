package grpclink

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"ringtrain/ring"
	"ringtrain/ring/link/internal/handshake"
	"ringtrain/ring/link/linktest"
	"ringtrain/ring/token"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// network is a linktest.Network of workers with servers on loopback. Each server has another
// service too, as a worker's server has.
type network struct {
	config    Config
	acceptors []*Acceptor
}

func (n *network) Listen(t testing.TB, p int) (addrs []string) {
	t.Helper()
	for range p {
		lis, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := grpc.NewServer(ServerOptions()...)
		healthpb.RegisterHealthServer(server, health.NewServer())
		n.acceptors = append(n.acceptors, Register(server))
		var serving sync.WaitGroup
		serving.Go(func() { server.Serve(lis) })
		t.Cleanup(func() {
			server.Stop()
			serving.Wait()
		})
		addrs = append(addrs, lis.Addr().String())
	}
	return addrs
}

func (n *network) Open(ctx context.Context, m ring.Membership, secret token.Token, routes []ring.Route) ([]ring.Link, error) {
	c := n.config
	c.Token = secret
	return Open(ctx, m, n.acceptors[m.Rank], c, routes)
}

func (n *network) Knock(t testing.TB, addr string, part func(io.ReadWriter) error) error {
	t.Helper()
	return doHandshake(openStream(t, addr).stream, part)
}

// openStream opens a stream to the server at addr. The stream ends with the test.
func openStream(t testing.TB, addr string) *outgoing {
	t.Helper()
	var d dialer
	conn, err := grpc.NewClient("passthrough:///"+addr, dialOptions(d.dial)...)
	if err != nil {
		t.Fatal(err)
	}
	lifetime, cancel := context.WithCancel(context.Background())
	out := &outgoing{conn: conn, cancel: cancel}
	t.Cleanup(func() { out.Close() })
	if err := out.open(lifetime, func(io.ReadWriter) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// openRing opens the links of a ring of p ranks.
func openRing(t testing.TB, p int, c Config) []ring.Link {
	t.Helper()
	return linktest.OpenRing(t, &network{config: c}, p)
}

// stage returns the link of rank 1 of 3. The test plays its neighbours: left sends to the
// link, right receives from it.
func stage(t *testing.T) (s linktest.Stage, left *outgoing, right *incoming) {
	t.Helper()
	n := &network{config: Config{PayloadCRC: true}}
	members := linktest.World(t, n, 3)
	opened := make(chan ring.Link, 1)
	go func() {
		links, err := n.Open(t.Context(), members[1], token.Token{}, []ring.Route{{To: 2, From: 0}})
		if err != nil {
			t.Error(err)
			links = make([]ring.Link, 1)
		}
		opened <- links[0]
	}()
	left = openStream(t, members[1].Self().Addr)
	left.dial(t, members[0])
	right, err := n.acceptors[2].next(t.Context())
	if err == nil {
		err = right.Handshake(t.Context(), func(rw handshake.Conn) error {
			_, err := handshake.Identity{Membership: members[2]}.Accept(rw, func(handshake.Peer) error { return nil })
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	s = linktest.Stage{Link: <-opened, Membership: members[1], Left: leftWire{left}, Right: rightWire{right}}
	if s.Link == nil {
		t.FailNow()
	}
	t.Cleanup(func() { s.Link.Close() })
	t.Cleanup(func() { right.Close() }) // runs first: Close of the link would wait for right to read
	return s, left, right
}

// dial runs the dialer's part of a handshake with rank 1.
func (out *outgoing) dial(t *testing.T, m ring.Membership) {
	t.Helper()
	if err := doHandshake(out.stream, func(rw handshake.Conn) error {
		return handshake.Identity{Membership: m}.Dial(rw, handshake.Peer{Rank: 1})
	}); err != nil {
		t.Fatal(err)
	}
}

// leftWire and rightWire are the neighbours' ends of streams. Each Write is a
// message.
type leftWire struct{ *outgoing }

func (w leftWire) Write(b []byte) (int, error) { return len(b), sendTo(w.stream, b) }
func (w leftWire) Close() error                { return w.stream.CloseSend() }
func (w leftWire) Reset()                      { w.conn.Close() }

type rightWire struct{ *incoming }

func (w rightWire) Write(b []byte) (int, error) { return len(b), sendTo(w.stream, b) }
func (w rightWire) Reset()                      { w.Close() }

func sendTo(s stream, b []byte) error { return s.SendMsg(&outMessage{head: b}) }
