package ring_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/link/memlink"
	"ringtrain/ring/ringtest"
)

// TestFirstCause ends the operation of one rank for a reason of its own while all other ranks
// are in it. It verifies that each of them names that rank and that reason at once, however far
// away: over links, in the memory of a host, and on two levels.
func TestFirstCause(t *testing.T) {
	for _, tt := range []struct {
		hosts []int
		over  func() []ring.Transport
	}{
		{[]int{0, 1, 2, 3, 4}, func() []ring.Transport { return memlink.Mesh(5) }},
		{[]int{0, 0, 0, 0}, func() []ring.Transport { return shared(4) }},
		{[]int{0, 0, 1, 1, 2}, func() []ring.Transport { return ringtest.HostTransports([]int{0, 0, 1, 1, 2}) }},
	} {
		for failing := range tt.hosts {
			t.Run(fmt.Sprintf("hosts=%v rank=%d", tt.hosts, failing), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testFirstCause(t, tt.hosts, tt.over(), failing) })
			})
		}
	}
}

func testFirstCause(t *testing.T, hosts []int, over []ring.Transport, failing int) {
	cause := errors.New("no such record")
	start := time.Now()
	ringtest.RunOnHostsOver(t, hosts, over, ring.DefaultConfig(), func(g *ring.Group) error {
		rank := g.Membership().Rank
		if rank == (failing+1)%len(hosts) {
			time.Sleep(2 * time.Second) // the other ranks wait for this one
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		defer cancel(nil)
		if rank == failing {
			time.AfterFunc(time.Second, func() { cancel(cause) })
		}
		err := g.AllReduce(ctx, ring.Reduction{Buf: make([]float32, 500_000)})
		if rank == failing {
			if !errors.Is(err, cause) {
				t.Errorf("rank %d: error %v, want %v", rank, err, cause)
			}
			return nil
		}
		if pe, ok := errors.AsType[*ring.PeerError](err); !ok || pe.Rank != failing || !strings.Contains(err.Error(), cause.Error()) {
			t.Errorf("rank %d: error %v, want one that names rank %d for %v", rank, err, failing, cause)
		}
		if took := time.Since(start); took > 2500*time.Millisecond {
			t.Errorf("rank %d: ends after %v", rank, took)
		}
		return nil
	})
}
