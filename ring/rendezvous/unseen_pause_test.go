package rendezvous

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring/rendezvous/state"
)

// mutedConn is a worker's connection that drops all incoming bytes from some moment on.
type mutedConn struct {
	net.Conn
	now atomic.Bool
}

func (d *mutedConn) Read(b []byte) (int, error) {
	for {
		n, err := d.Conn.Read(b)
		if err != nil || !d.now.Load() {
			return n, err
		}
	}
}

// TestUnseenPause verifies that no worker is lost if the workers hear nothing for the lease,
// close their streams and reconnect, while the clock of the rendezvous shows no pause: the clock of
// a paused machine stands still.
func TestUnseenPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{
			Restarts: 2, Journal: journalAt(t, t.TempDir()+"/journal"),
			Probe: func(context.Context, state.Probe) string { return "answers" },
		})
		var mu sync.Mutex
		var conns []*mutedConn
		all := s.workers(3)
		for i := range all {
			all[i].dial = func(ctx context.Context, addr string) (net.Conn, error) {
				c, err := s.dial(ctx, addr)
				if err != nil {
					return nil, err
				}
				mu.Lock()
				defer mu.Unlock()
				conns = append(conns, &mutedConn{Conn: c})
				return conns[len(conns)-1], nil
			}
		}
		sessions := joinAll(t, all...)
		time.Sleep(10 * time.Second) // on the fake clock
		mu.Lock()
		for _, c := range conns {
			c.now.Store(true)
		}
		mu.Unlock()
		time.Sleep(20 * time.Second)
		mu.Lock()
		if len(conns) != 2*len(all) {
			t.Errorf("%d connections were made, want each worker to come back once", len(conns))
		}
		mu.Unlock()
		for rank, m := range sessions {
			if err := m.Context().Err(); err != nil {
				t.Fatalf("rank %d: the generation ended by %v", rank, context.Cause(m.Context()))
			}
		}
		if left := s.Status().RestartsLeft; left != 2 {
			t.Errorf("%d restarts are left, want 2", left)
		}
		leaveAll(t, sessions...)
	})
}
