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
// the right rank, that a stranger does not take a worker's place, and that a worker retries
// after a refusal.
func TestConnectAll(t *testing.T) {
	const size = 4
	n := &network{}
	members, secret := world(t, n, size), token.New()
	for _, m := range members {
		n.Knock(t, m.Self().Addr, func(rw io.ReadWriter) error {
			_, err := io.WriteString(rw, "RTL\x02GET / HTTP/1.0\r\n\r\n")
			return err
		})
	}
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
			r, err := ConnectAll(ctx, m, n.lis[m.Rank], Config{Token: secret, Dial: dial})
			if err != nil {
				t.Errorf("rank %d: %v", m.Rank, err)
				return
			}
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
	r, err := ConnectAll(ctx, m, n.lis[1], Config{Dial: dial})
	if err != nil {
		t.Fatal(err)
	}
	for _, rank := range []int{0, 2} {
		if r.Out[rank] != nil || r.In[rank] != nil || r.Why[rank] != syscall.ECONNREFUSED {
			t.Errorf("rank %d: %v, %v, because of %v; want connection refused", rank, r.Out[rank], r.In[rank], r.Why[rank])
		}
	}
}
