package rendezvous

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring/rendezvous/state"
)

// pausable is a rendezvous with a journal whose process can be paused.
type pausable struct {
	*testServer
	mu    sync.Mutex
	conns []net.Conn // connections of the workers
}

func newPausable(t *testing.T, c ServerConfig, probe func(state.Probe) string) *pausable {
	p := &pausable{}
	c.Journal = journalAt(t, t.TempDir()+"/journal")
	c.Probe = func(_ context.Context, f state.Probe) string { return probe(f) }
	p.testServer = serveInMemory(t, c)
	return p
}

func (p *pausable) workers(size int) []Options {
	all := p.testServer.workers(size)
	for i := range all {
		all[i].dial = func(ctx context.Context, addr string) (net.Conn, error) {
			c, err := p.dial(ctx, addr)
			p.mu.Lock()
			defer p.mu.Unlock()
			p.conns = append(p.conns, c)
			return c, err
		}
	}
	return all
}

// pause simulates SIGSTOP and SIGCONT: the clock has advanced without a tick, and the workers have
// closed their connections.
func (p *pausable) pause(length time.Duration) {
	p.Server.mu.Lock()
	p.started = p.started.Add(-length)
	p.Server.mu.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		c.Close()
	}
	p.conns = nil
}

// TestPausedRendezvous verifies that a pause of three leases, of a rendezvous with a
// journal, neither ends the generation, nor uses a restart, nor prevents a clean end.
func TestPausedRendezvous(t *testing.T) {
	for _, restarts := range []int{0, 2} {
		t.Run(fmt.Sprintf("restarts=%d", restarts), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPausable(t, ServerConfig{Restarts: restarts}, func(state.Probe) string { return "answers" })
				sessions := joinAll(t, p.workers(3)...)
				time.Sleep(10 * time.Second) // on the fake clock
				for range 2 {
					p.pause(15 * time.Second)
					time.Sleep(20 * time.Second)
				}
				for rank, s := range sessions {
					if err := s.Context().Err(); err != nil {
						t.Fatalf("rank %d: the generation ended by %v", rank, context.Cause(s.Context()))
					}
				}
				if left := p.Status().RestartsLeft; left != restarts {
					t.Errorf("%d restarts are left, want %d", left, restarts)
				}
				leaveAll(t, sessions...)
			})
		})
	}
}

// TestKilledInPause verifies that a worker that is killed during a pause is named within 2 s
// of the end of the pause, and that no other one is lost.
func TestKilledInPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPausable(t, ServerConfig{Restarts: 2}, func(f state.Probe) string {
			if f.Rank == 1 {
				return refusedReason
			}
			return "answers"
		})
		all := p.workers(3)
		for rank := range all {
			all[rank].Self.Addr = fmt.Sprintf("10.0.0.%d:4000", rank+2)
		}
		sessions := joinAll(t, all...)
		time.Sleep(10 * time.Second) // on the fake clock
		sessions[1].end(nil, false, false)
		p.pause(15 * time.Second)
		woke := time.Now()
		for _, rank := range []int{0, 2} {
			s := sessions[rank]
			<-s.Context().Done()
			err := context.Cause(s.Context())
			if took := time.Since(woke); took > 2*time.Second || !strings.Contains(err.Error(), "lost rank 1 (host1 ") {
				t.Errorf("rank %d is told %v after %v, want the loss of rank 1 within 2 s", rank, err, took)
			}
		}
		if left := p.Status().RestartsLeft; left != 1 {
			t.Errorf("%d restarts are left, want 1: one rank was killed", left)
		}
		for _, rank := range []int{0, 2} {
			if err := sessions[rank].Outcome(t.Context(), nil); err != nil {
				t.Errorf("rank %d: %v, want that it may go on", rank, err)
			}
		}
	})
}

// TestLostAfterPause verifies that the others wait no longer than the lease for a worker
// that does not reconnect after a pause and whose port tells nothing.
func TestLostAfterPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPausable(t, ServerConfig{Restarts: 2}, func(state.Probe) string { return "timed out" })
		all := p.workers(2)
		sessions := joinAll(t, all...)
		time.Sleep(10 * time.Second) // on the fake clock
		sessions[1].end(nil, false, false)
		p.pause(15 * time.Second)
		woke := time.Now()
		<-sessions[0].Context().Done()
		if took := time.Since(woke); took < DefaultLease-time.Second || took > DefaultLease+time.Second {
			t.Errorf("rank 1 is lost after %v, want the lease of %v", took, DefaultLease)
		}
	})
}
