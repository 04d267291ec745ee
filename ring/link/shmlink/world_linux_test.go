package shmlink

import (
	"context"
	"sync"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/linktest"
	"ringtrain/ring/port"
	"ringtrain/ring/token"
)

// testTimeout is longer than any test here takes on a busy machine.
const testTimeout = 30 * time.Second

// testContext returns a context that ends a stuck test.
func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	t.Cleanup(cancel)
	return ctx
}

// memberships returns p workers of one host, as each of them sees them. Between them are
// workers of another host, so ranks differ from local ranks: the workers of the host have
// ranks 1, 3, 5, ….
func memberships(job string, p int) []ring.Membership {
	workers := make([]ring.Worker, 2*p)
	for r := range workers {
		workers[r] = ring.Worker{Rank: r, Host: "there", HostID: "b", Incarnation: uint64(100 + r)}
		if r%2 == 1 {
			workers[r].Host, workers[r].HostID = "here", "a"
		}
	}
	all := make([]ring.Membership, p)
	for i := range all {
		all[i] = ring.Membership{JobID: job, Generation: 3, Rank: 2*i + 1, Workers: workers}
	}
	return all
}

// open opens the memory of one worker with a port of its own.
func open(ctx context.Context, t testing.TB, m ring.Membership, c Config) (ring.Memory, error) {
	t.Helper()
	c.Port = newPort(t, c.Token)
	defer c.Port.Close()
	return Open(ctx, m, c)
}

func newPort(t testing.TB, secret token.Token) *port.Port {
	p, err := port.Listen("127.0.0.1:0", secret)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// openEach opens memory for p workers of this process, each with its own Config, and returns
// their errors. The memory is closed with the test.
func openEach(ctx context.Context, t testing.TB, p int, config func(local int) Config) ([]ring.Memory, []error) {
	t.Helper()
	all, errs := make([]ring.Memory, p), make([]error, p)
	var opening sync.WaitGroup
	for i, m := range memberships(t.Name(), p) {
		opening.Go(func() { all[i], errs[i] = open(ctx, t, m, config(i)) })
	}
	opening.Wait()
	for _, m := range all {
		if m != nil {
			t.Cleanup(func() { m.Close() })
		}
	}
	return all, errs
}

// openAll opens memory for p workers of this process. The memory is closed with the
// test.
func openAll(t testing.TB, p int, c Config) []ring.Memory {
	t.Helper()
	all, errs := openEach(testContext(t), t, p, func(int) Config { return c })
	for i, err := range errs {
		if err != nil {
			t.Fatalf("worker %d: %v", i, err)
		}
	}
	return all
}

// TestConformance verifies that memory among processes keeps the contract of ring.Memory.
func TestConformance(t *testing.T) {
	linktest.Memory(t, func(t *testing.T, p int) []ring.Memory {
		return openAll(t, p, Config{Token: token.New()})
	})
}
