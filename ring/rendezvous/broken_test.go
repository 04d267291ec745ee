package rendezvous

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/state"
	"ringtrain/ring/token"
)

// TestResetEndsNothing verifies that a reset of control streams ends nothing: the workers dial again
// within a moment, nobody is lost, and no restart is needed.
func TestResetEndsNothing(t *testing.T) {
	for _, ranks := range [][]int{{1}, {0, 1, 2}} {
		t.Run(fmt.Sprintf("ranks=%v", ranks), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serveInMemory(t, ServerConfig{})
				sessions := joinAll(t, s.workers(3)...)
				for range 3 {
					time.Sleep(time.Second) // on the fake clock
					for _, rank := range ranks {
						s.pathOf(sessions[rank]).reset()
					}
					time.Sleep(100 * time.Millisecond)
					for rank, m := range sessions {
						if !m.control.reached(m.Lease()) || m.Context().Err() != nil {
							t.Errorf("rank %d: reached is %t, the generation has ended by %v", rank, m.control.reached(m.Lease()), context.Cause(m.Context()))
						}
					}
				}
				leaveAll(t, sessions...)
			})
		})
	}
}

// TestDarkPath verifies that a path that is dark for less than the lease loses nobody, one way or
// both, and that the worker is connected again a moment after the path is whole.
func TestDarkPath(t *testing.T) {
	for _, way := range []string{"both", "from the worker"} {
		for _, hole := range []time.Duration{1, 2, 3, 4} {
			t.Run(fmt.Sprintf("way=%s/for=%ds", way, hole), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := serveInMemory(t, ServerConfig{})
					sessions := joinAll(t, s.workers(3)...)
					time.Sleep(time.Second) // on the fake clock
					p := s.pathOf(sessions[1])
					p.change(func() { p.dark, p.mute = way == "both", true })
					time.Sleep(hole * time.Second)
					p.reset() // bytes are lost, which ends a stream of TLS
					p.change(func() { p.dark, p.mute = false, false })
					time.Sleep(2 * dialEvery)
					for rank, m := range sessions {
						if !m.control.reached(m.Lease()) || m.Context().Err() != nil {
							t.Errorf("rank %d: reached is %t, the generation has ended by %v", rank, m.control.reached(m.Lease()), context.Cause(m.Context()))
						}
					}
					leaveAll(t, sessions...)
				})
			})
		}
	}
}

// TestSlowDial verifies that workers whose dials take a part of the lease find a rendezvous that has
// come back, as those do that look up its name on a busy host, and that none of them is lost.
func TestSlowDial(t *testing.T) {
	for _, slow := range []time.Duration{1, 2, 3, 4} {
		t.Run(fmt.Sprintf("dial=%ds", slow), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serveAlone(t, ServerConfig{})
				sessions := joinAll(t, s.workers(3)...)
				for _, m := range sessions[1:] {
					s.pathOf(m).change(func() { s.pathOf(m).slow = slow * time.Second })
				}
				time.Sleep(time.Second) // on the fake clock
				s.restart(t, ServerConfig{})
				time.Sleep(20 * time.Second)
				for rank, m := range sessions {
					if !m.control.reached(m.Lease()) || m.Context().Err() != nil {
						t.Errorf("rank %d: reached is %t, the generation has ended by %v", rank, m.control.reached(m.Lease()), context.Cause(m.Context()))
					}
				}
				leaveAll(t, sessions...)
			})
		})
	}
}

// TestSlowName verifies that workers join whose dials take longer than the first attempts wait, as with
// a first name server that is down, and that they say soon that they wait.
func TestSlowName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		began, told := time.Now(), time.Hour
		all := s.workers(2)
		for _, o := range all {
			s.paths.of(o.Self.Incarnation).slow = 6 * time.Second
		}
		all[1].Waiting = func(state.Waiting) { told = min(told, time.Since(began)) }
		sessions := joinAll(t, all...)
		if told > 3*time.Second {
			t.Errorf("rank 1 says after %v that it waits, want 3 s at most", told)
		}
		leaveAll(t, sessions...)
	})
}

// TestEmptyRendezvous verifies that a rendezvous that starts empty at the same address learns all
// from its workers: training goes on, a lost rank is replaced, and the job ends well.
func TestEmptyRendezvous(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveAlone(t, ServerConfig{Restarts: 2})
		sessions := joinAll(t, s.workers(3)...)
		for _, m := range sessions {
			m.Formed()
			m.Progress(7, "train")
		}
		time.Sleep(time.Second) // on the fake clock
		s.restart(t, ServerConfig{})
		time.Sleep(time.Second)
		if st := s.Status(); st.Generation != 1 || st.Present != 3 || st.Step != 7 || st.RestartsLeft != 2 {
			t.Fatalf("the empty rendezvous knows %+v, want generation 1 of 3 workers at step 7 with 2 restarts", st)
		}
		s.restart(t, ServerConfig{})
		s.pathOf(sessions[2]).kill()
		for _, m := range sessions[:2] {
			<-m.Context().Done()
		}
		next := nextAll(t, sessions[:2], s.successor(2, 3))
		if got := s.Status(); got.Generation != 2 || got.RestartsLeft != 1 {
			t.Errorf("the rendezvous knows %+v, want generation 2 with 1 restart left", got)
		}
		leaveAll(t, next...)
	})
}

// TestTwoRendezvous verifies that of two rendezvous at one name one ends, and that the workers then
// follow the other.
func TestTwoRendezvous(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveAlone(t, ServerConfig{})
		sessions := joinAll(t, s.workers(3)...)
		for _, m := range sessions {
			s.pathOf(m).session = m
		}
		other := serveAlone(t, ServerConfig{Token: s.token, Probe: s.paths.probe})
		s.door.Store(other.listener)
		s.pathOf(sessions[1]).reset() // finds the other one, which adopts the life
		for s.Server.Cause() == nil && other.Server.Cause() == nil {
			time.Sleep(100 * time.Millisecond)
		}
		if s.Server.Cause() == nil {
			s.door.Store(s.listener)
		}
		time.Sleep(2 * time.Second)
		follows := map[uint64]int{}
		for rank, m := range sessions {
			follows[m.Follows()]++
			if m.Context().Err() != nil {
				t.Errorf("rank %d: the generation has ended by %v", rank, context.Cause(m.Context()))
			}
		}
		if len(follows) != 1 {
			t.Errorf("the workers follow %v, want one rendezvous", follows)
		}
	})
}

// TestNobodyLost verifies that a broken link ends the generation and costs no restart: all workers
// go on with the next one.
func TestNobodyLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		sessions := joinAll(t, s.workers(3)...)
		for _, m := range sessions {
			m.Formed()
		}
		began := time.Now() // no heartbeat has gone yet
		go sessions[1].Outcome(t.Context(), &ring.Cause{Rank: 2, Peer: "h:2", Step: 4, Text: "ring: all-reduce 5, step 0, peer rank 2 (h:2): connection reset", ExitCode: exitcode.Retry})
		for _, m := range sessions {
			<-m.Context().Done()
		}
		next := nextAll(t, sessions)
		if took := time.Since(began); took > time.Second {
			t.Errorf("the next generation begins after %v, want 1 s at most", took)
		}
		lost, why := next[0].Lost()
		if len(lost) != 0 || why == nil || !strings.HasPrefix(why.Text, "link 1 -> 2: connection reset") || s.RestartsLeft() != 0 {
			t.Errorf("lost %v by %v with %d restarts left, want nobody, by the link", lost, why, s.RestartsLeft())
		}
		leaveAll(t, next...)
	})
}

// TestResetAmidRegroup verifies that nothing that a worker says is lost when its stream breaks while
// generations end and begin.
func TestResetAmidRegroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		sessions := joinAll(t, s.workers(3)...)
		for round := range 50 {
			for _, m := range sessions {
				m.Formed()
				m.Progress(int64(round), "train")
			}
			time.Sleep(time.Second) // on the fake clock, for a heartbeat
			began := time.Now()
			for _, m := range sessions {
				go s.pathOf(m).reset()
			}
			go sessions[1].Outcome(t.Context(), &ring.Cause{Rank: 2, Peer: "h:2", Step: 4, Text: "connection reset", ExitCode: exitcode.Retry})
			for _, m := range sessions {
				go func() {
					<-m.Context().Done()
					s.pathOf(m).reset()
				}()
				<-m.Context().Done()
			}
			sessions = nextAll(t, sessions)
			if took := time.Since(began); took > 10*time.Second {
				t.Fatalf("round %d: the next generation begins after %v", round, took)
			}
		}
		leaveAll(t, sessions...)
	})
}

// serveAlone starts a rendezvous in memory that is no launcher's, and whose process may be replaced.
func serveAlone(t *testing.T, c ServerConfig) *testServer {
	t.Helper()
	if !c.Token.Set() {
		c.Token = token.New()
	}
	p := newPipeListener()
	s := &testServer{addr: p.Addr().String(), token: c.Token, paths: new(paths), listener: p, door: new(atomic.Pointer[pipeListener])}
	s.door.Store(s.listener)
	s.dial = func(ctx context.Context, addr string) (net.Conn, error) { return s.door.Load().dial(ctx, addr) }
	if c.Probe == nil {
		c.Probe = s.paths.probe
	}
	s.start(t, p, c)
	t.Cleanup(func() { s.Server.Close() })
	return s
}

// restart ends the process of the rendezvous, and starts an empty one at its address.
func (s *testServer) restart(t *testing.T, c ServerConfig) {
	t.Helper()
	s.grpc.Stop()
	s.Server.Close()
	p := newPipeListener()
	s.door.Store(p)
	c.Token, c.Probe = s.token, s.paths.probe
	s.start(t, p, c)
}

// TestOutageBegins verifies that an outage of a path that was dark before its connection broke is
// counted from the first beat that was not heard.
func TestOutageBegins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		sessions := joinAll(t, s.workers(2)...)
		time.Sleep(time.Second) // on the fake clock
		p := s.pathOf(sessions[1])
		p.change(func() { p.dark, p.mute = true, true })
		time.Sleep(3 * time.Second)
		p.reset()
		time.Sleep(200 * time.Millisecond)
		if d := sessions[1].control.unreachedFor(); d < 2*time.Second || d > 4*time.Second {
			t.Errorf("not reached for %v, want about 3 s", d)
		}
		p.change(func() { p.dark, p.mute = false, false })
		time.Sleep(2 * dialEvery)
		leaveAll(t, sessions...)
	})
}

// TestPausedRendezvous verifies that pauses of the rendezvous lose nobody: the clock has advanced
// without a tick, and the workers have given up their connections.
func TestPausedRendezvous(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		sessions := joinAll(t, s.workers(3)...)
		for range 2 {
			time.Sleep(10 * time.Second) // on the fake clock
			s.pause(15*time.Second, sessions)
			time.Sleep(10 * time.Second)
			for rank, m := range sessions {
				if err := m.Context().Err(); err != nil {
					t.Fatalf("rank %d: the generation has ended by %v", rank, context.Cause(m.Context()))
				}
			}
		}
		leaveAll(t, sessions...)
	})
}

// TestKilledInPause verifies that a worker that is killed during a pause of the rendezvous is named
// within 2 s of its end, and that no other one is lost.
func TestKilledInPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{Restarts: 2})
		sessions := joinAll(t, s.workers(3)...)
		time.Sleep(10 * time.Second) // on the fake clock
		s.pathOf(sessions[1]).kill()
		s.pause(15*time.Second, sessions)
		woke := time.Now()
		for _, rank := range []int{0, 2} {
			<-sessions[rank].Context().Done()
			err := context.Cause(sessions[rank].Context())
			if took := time.Since(woke); took > 2*time.Second || !strings.Contains(err.Error(), "lost rank 1 (host1 ") {
				t.Errorf("rank %d is told %v after %v, want the loss of rank 1 within 2 s", rank, err, took)
			}
		}
		if left := s.RestartsLeft(); left != 1 {
			t.Errorf("%d restarts are left, want 1", left)
		}
	})
}

// pause is what SIGSTOP and SIGCONT do to the rendezvous: its clock has advanced without a tick, and
// the workers have closed their connections.
func (s *testServer) pause(length time.Duration, sessions []*Session) {
	s.Server.mu.Lock()
	s.started = s.started.Add(-length)
	s.Server.mu.Unlock()
	for _, m := range sessions {
		s.pathOf(m).reset()
	}
}
