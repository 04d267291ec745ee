package tcplink

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"ringtrain/ring"
	"ringtrain/ring/port"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world returns listeners on loopback and the membership of each of p ranks.
// The incarnations are 100 + rank.
func world(t testing.TB, p int) ([]net.Listener, []ring.Membership) {
	t.Helper()
	var (
		lis     []net.Listener
		workers []ring.Worker
		members []ring.Membership
	)
	for rank := range p {
		prt, err := port.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { prt.Close() })
		lis = append(lis, prt.Links())
		workers = append(workers, ring.Worker{Rank: rank, Host: "here", Addr: prt.Addr(), Incarnation: uint64(100 + rank)})
	}
	for rank := range p {
		members = append(members, ring.Membership{JobID: "job-1", Generation: 3, Rank: rank, Workers: workers})
	}
	return lis, members
}

// openAll opens the links of p ranks on loopback; they are closed after the
// test.
func openAll(t testing.TB, p int, c Config) []ring.Link {
	t.Helper()
	return openEach(t, p, func(int) Config { return c })
}

func openEach(t testing.TB, p int, config func(rank int) Config) []ring.Link {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	lis, members := world(t, p)
	links, errs := make([]ring.Link, p), make([]error, p)
	var wg sync.WaitGroup
	for rank := range p {
		wg.Go(func() { links[rank], errs[rank] = Open(ctx, members[rank], lis[rank], config(rank)) })
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
