package rendezvous

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/journal"
	"ringtrain/ring/rendezvous/state"
	"ringtrain/ring/token"
)

// journalAt opens the journal at path until the test ends.
func journalAt(t *testing.T, path string) *journal.File {
	t.Helper()
	j, err := journal.Open(path, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { j.Close() })
	return j
}

// restartable is a rendezvous with a journal that can be killed and restarted.
type restartable struct {
	t     *testing.T
	c     ServerConfig
	path  string
	token token.Token

	mu  sync.Mutex
	now *testServer // nil while the rendezvous is killed
}

func newRestartable(t *testing.T, c ServerConfig) *restartable {
	m := &restartable{t: t, c: c, path: filepath.Join(t.TempDir(), "journal"), token: token.New()}
	m.start()
	return m
}

func (m *restartable) start() {
	m.t.Helper()
	j, err := journal.Open(m.path, "", 0)
	if err != nil {
		m.t.Fatal(err)
	}
	c := m.c
	c.Journal = j
	c.Probe = func(context.Context, state.Probe) string { return refusedReason }
	s := serveInMemory(m.t, c)
	s.Server.config.Token = m.token
	m.mu.Lock()
	m.now = s
	m.mu.Unlock()
}

// kill ends the rendezvous as SIGKILL does: connections break without a message.
func (m *restartable) kill() {
	m.mu.Lock()
	s := m.now
	m.now = nil
	m.mu.Unlock()
	s.Close()
	s.grpc.Stop()
}

func (m *restartable) dial(ctx context.Context, addr string) (net.Conn, error) {
	m.mu.Lock()
	s := m.now
	m.mu.Unlock()
	if s == nil {
		return refuse(ctx, addr)
	}
	return s.dial(ctx, addr)
}

func (m *restartable) workers(size int) []Options {
	all := m.now.workers(size)
	for i := range all {
		all[i].Token, all[i].dial = m.token, m.dial
	}
	return all
}

// TestRendezvousIsRestarted verifies that a generation survives the death of a rendezvous with a
// journal, that its workers reconnect within 3 s, and that the job ends cleanly.
func TestRendezvousIsRestarted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newRestartable(t, ServerConfig{})
		all := m.workers(3)
		var mu sync.Mutex
		var lines []string
		all[0].Notice = func(l string) {
			mu.Lock()
			defer mu.Unlock()
			lines = append(lines, l)
		}
		sessions := joinAll(t, all...)
		m.kill()
		time.Sleep(20 * time.Second) // on the fake clock
		m.start()
		time.Sleep(3 * time.Second)
		for rank, s := range sessions {
			if err := s.Context().Err(); err != nil {
				t.Errorf("rank %d: the generation ended by %v", rank, context.Cause(s.Context()))
			}
		}
		mu.Lock()
		if len(lines) != 2 || !strings.Contains(lines[0], "lost the rendezvous at 10.0.0.1:29400") || !strings.Contains(lines[1], "is back after 2") {
			t.Errorf("rank 0 is told %q, want that it is lost and that it is back", lines)
		}
		mu.Unlock()
		leaveAll(t, sessions...)
	})
}

// TestLossWhileAway verifies the next generation after a worker died, and the others left their
// group, while the rendezvous was away. The successor must not wait for the lease if it listens at
// the address of the dead worker, or if nobody listens there.
func TestLossWhileAway(t *testing.T) {
	for _, port := range []string{"4000", "4001"} {
		t.Run("port="+port, func(t *testing.T) { lossWhileAway(t, ":"+port) })
	}
}

// lossWhileAway runs TestLossWhileAway with a successor that listens at addr. The dead worker
// listened at :4000.
func lossWhileAway(t *testing.T, addr string) {
	synctest.Test(t, func(t *testing.T) {
		m := newRestartable(t, ServerConfig{Restarts: 1})
		sessions := joinAll(t, m.workers(3)...)
		m.kill()
		sessions[1].Close()
		ends := make(chan error)
		for _, s := range []*Session{sessions[0], sessions[2]} {
			go func() {
				hearsay := &ring.Cause{Rank: 1, Text: "peer 1 closed the link", ExitCode: exitcode.Retry}
				err := s.Outcome(t.Context(), hearsay)
				if err == nil {
					err = s.Next(t.Context())
				}
				ends <- err
			}()
		}
		time.Sleep(10 * time.Second) // on the fake clock
		m.start()
		o := m.workers(3)[1]
		o.Self.Addr = addr
		o.Self.Incarnation += 1000
		began := time.Now()
		fresh, err := Join(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("the successor waits %v, want 2 s at most, for the others to come back", took)
		}
		t.Cleanup(func() { fresh.Close() })
		for range 2 {
			if err := <-ends; err != nil {
				t.Fatal(err)
			}
		}
		leaveAll(t, sessions[0], sessions[2], fresh)
	})
}

// TestRendezvousStaysAway verifies that a running generation goes on without its rendezvous, and
// that a generation that must end waits for the start timeout at most.
func TestRendezvousStaysAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newRestartable(t, ServerConfig{Restarts: 1})
		sessions := joinAll(t, m.workers(2)...)
		m.kill()
		time.Sleep(time.Hour) // on the fake clock
		if err := sessions[0].Context().Err(); err != nil {
			t.Fatalf("the generation ended by %v", context.Cause(sessions[0].Context()))
		}
		start := time.Now()
		err := sessions[0].Outcome(t.Context(), &ring.Cause{Rank: 1, Text: "peer 1 closed the link", ExitCode: exitcode.Retry})
		if took := time.Since(start); took < time.Minute || took > time.Minute+2*time.Second || exitcode.Of(err) != exitcode.Retry {
			t.Errorf("error %v with code %d after %v, want 138 after a minute", err, exitcode.Of(err), took)
		}
		if c, _ := errors.AsType[*ring.Cause](err); c == nil || !strings.Contains(c.Text, "did not return in 60 s") {
			t.Errorf("error %v, want one that names the rendezvous", err)
		}
	})
}

// TestEndWhileAway verifies that all workers hear the end if the rendezvous is killed just before
// or after the end was agreed.
func TestEndWhileAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newRestartable(t, ServerConfig{})
		sessions := joinAll(t, m.workers(2)...)
		ended := make(chan error, 2)
		leave := func(s *Session) { ended <- s.Leave(t.Context()) }
		go leave(sessions[0])
		synctest.Wait()
		m.kill()
		m.start()
		go leave(sessions[1])
		for range 2 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// TestAbandonedIsNotDurable verifies that a rendezvous whose journal cannot be written is not
// durable.
func TestAbandonedIsNotDurable(t *testing.T) {
	j := journalAt(t, filepath.Join(t.TempDir(), "journal"))
	s := serve(t, ServerConfig{Journal: j})
	if !s.Durable() {
		t.Error("a rendezvous with a journal is not durable")
	}
	j.Close() // every write fails from now on
	leaveAll(t, joinAll(t, s.workers(2)...)...)
	if s.Durable() {
		t.Error("a rendezvous whose journal is abandoned is durable")
	}
}
