package tcplink

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/token"
)

// TestConnectAll verifies that all pairs of workers connect, that each connection leads to
// the right rank, and that a worker retries after a refusal.
func TestConnectAll(t *testing.T) {
	const size = 4
	n := &network{mode: tls, token: token.New()}
	members := world(t, n, size)
	var refusals atomic.Int32
	dial := func(ctx context.Context, addr string) (net.Conn, error) {
		if refusals.Add(1) <= size {
			return nil, syscall.ECONNREFUSED
		}
		return dialTCP(ctx, addr)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var all sync.WaitGroup
	for _, m := range members {
		all.Go(func() {
			r := ConnectAll(ctx, m, n.ports[m.Rank].Links(), Config{Token: n.token, Dial: dial})
			defer r.Close()
			if err := exchangeRanks(r, m); err != nil {
				t.Errorf("rank %d: %v", m.Rank, err)
			}
		})
	}
	all.Wait()
}

// exchangeRanks sends this worker's rank over each connection and checks the rank that arrives.
func exchangeRanks(r *AllConns, m ring.Membership) error {
	for rank := range m.Workers {
		if rank == m.Rank {
			if r.Out[rank] != nil || r.In[rank] != nil || r.Why[rank] != nil {
				return fmt.Errorf("its own place is %v, %v, %v", r.Out[rank], r.In[rank], r.Why[rank])
			}
			continue
		}
		if r.Out[rank] == nil || r.In[rank] == nil || r.Why[rank] != nil {
			return fmt.Errorf("to rank %d %v (%v), from it %v", rank, r.Out[rank], r.Why[rank], r.In[rank])
		}
		if _, err := r.Out[rank].Write([]byte{byte(m.Rank)}); err != nil {
			return err
		}
	}
	for rank, conn := range r.In {
		var who [1]byte
		if conn == nil {
			continue
		}
		if _, err := io.ReadFull(conn, who[:]); err != nil || int(who[0]) != rank {
			return fmt.Errorf("the connection from rank %d is that of %d: %v", rank, who[0], err)
		}
	}
	return nil
}

// TestConnectAllAlone verifies that ConnectAll returns in time although the others are absent,
// with the reason for each of them.
func TestConnectAllAlone(t *testing.T) {
	n := &network{}
	m := world(t, n, 3)[1]
	ctx, cancel := context.WithCancel(t.Context())
	var tries atomic.Int32
	dial := func(context.Context, string) (net.Conn, error) {
		if tries.Add(1) == 6 {
			cancel()
		}
		return nil, syscall.ECONNREFUSED
	}
	r := ConnectAll(ctx, m, n.ports[1].Links(), Config{Dial: dial})
	for _, rank := range []int{0, 2} {
		if r.Out[rank] != nil || r.In[rank] != nil || r.Why[rank] != syscall.ECONNREFUSED {
			t.Errorf("rank %d: %v, %v, because of %v; want connection refused", rank, r.Out[rank], r.In[rank], r.Why[rank])
		}
	}
}
