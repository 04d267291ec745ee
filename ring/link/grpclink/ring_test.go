package grpclink

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"

	"ringtrain/ring"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world starts the servers of p ranks on loopback and returns their acceptors
// and memberships. The incarnations are 100 + rank. Each server has another
// service too, as a worker's server has.
func world(t testing.TB, p int) ([]*Acceptor, []ring.Membership) {
	t.Helper()
	var (
		acceptors []*Acceptor
		workers   []ring.Worker
		members   []ring.Membership
	)
	for rank := range p {
		lis, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := grpc.NewServer(ServerOptions()...)
		healthpb.RegisterHealthServer(server, health.NewServer())
		acceptors = append(acceptors, Register(server))
		var serving sync.WaitGroup
		serving.Go(func() { server.Serve(lis) })
		t.Cleanup(func() {
			server.Stop()
			serving.Wait()
		})
		workers = append(workers, ring.Worker{Rank: rank, Host: "here", Addr: lis.Addr().String(), Incarnation: uint64(100 + rank)})
	}
	for rank := range p {
		members = append(members, ring.Membership{JobID: "job-1", Generation: 3, Rank: rank, Workers: workers})
	}
	return acceptors, members
}

// openAll opens the links of p ranks on loopback; they are closed after the
// test.
func openAll(t testing.TB, p int, c Config) []ring.Link {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	acceptors, members := world(t, p)
	links, errs := make([]ring.Link, p), make([]error, p)
	var wg sync.WaitGroup
	for rank := range p {
		wg.Go(func() { links[rank], errs[rank] = Open(ctx, members[rank], acceptors[rank], c) })
	}
	wg.Wait()
	for rank, err := range errs {
		if err != nil {
			t.Fatalf("rank %d: %v", rank, err)
		}
		t.Cleanup(func() { links[rank].Close() })
	}
	return links
}
