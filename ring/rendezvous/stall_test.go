package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/ringtest"
)

// notices collects notices.
type notices struct {
	mu  sync.Mutex
	all []string
}

func (n *notices) add(text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all = append(n.all, text)
}

func (n *notices) text() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return strings.Join(n.all, "\n")
}

// TestOtherOperation verifies that a job ends within 3 s if two ranks wait in different operations
// with one number, and that the cause names both.
func TestOtherOperation(t *testing.T) {
	for name, other := range map[string]ring.Wait{
		"barrier on rank 0":                    {Operation: "barrier", Seq: 5, Peer: 1},
		"all-reduce of 900 elements on rank 0": {Operation: "all-reduce", Seq: 5, Elements: 900, Peer: 1},
	} {
		t.Run("other="+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := serveInMemory(t, ServerConfig{Restarts: 5})
				start := time.Now()
				sessions := joinAll(t, s.workers(2)...)
				for _, m := range sessions {
					w := ring.Wait{Operation: "all-reduce", Seq: 5, Elements: 100, Peer: 0}
					if m.Membership().Rank == 0 {
						w = other
					}
					w.Since = start
					m.SetWaitSource(func() ring.Wait { return w })
				}
				for _, m := range sessions {
					<-m.Context().Done()
					c, ok := errors.AsType[*ring.Cause](context.Cause(m.Context()))
					if !ok || c.ExitCode != exitcode.Usage || !strings.Contains(c.Text, "100 elements on rank 1") || !strings.Contains(c.Text, strings.TrimSuffix(name, " 0")) {
						t.Errorf("the generation ends by %v", c)
					}
				}
				if took := time.Since(start); took > 3*time.Second {
					t.Errorf("known after %v, want 3s at most", took)
				}
			})
		})
	}
}

// TestStallOnHosts verifies the notices about one slow rank of four on one, two and four hosts:
// they name the slow rank, come at most every 5 s, and no rank is lost.
func TestStallOnHosts(t *testing.T) {
	for _, hosts := range [][]int{{0, 0, 0, 0}, {0, 0, 1, 1}, {0, 1, 2, 3}} {
		t.Run(fmt.Sprintf("hosts=%v", hosts), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var owner, people notices
				s := serveInMemory(t, ServerConfig{Notice: owner.add})
				all := s.workers(4)
				all[0].Notice = people.add
				sessions := joinAll(t, all...)
				ringtest.RunOnHosts(t, hosts, ring.DefaultConfig(), func(g *ring.Group) error {
					m := sessions[g.Membership().Rank]
					m.SetWaitSource(g.Waiting)
					m.Progress(7, "train")
					if g.Membership().Rank == 3 {
						time.Sleep(20 * time.Second)
					}
					return g.AllReduce(m.Context(), ring.Reduction{Buf: make([]float32, 5000)})
				})
				const want = " of 4 ranks wait for rank 3: host=host3 addr=10.0.0.2:4000 phase=train step=7 for="
				for who, n := range map[string]*notices{"owner": &owner, "people of rank 0": &people} {
					// The first notice may come before all heartbeats report the wait.
					if got := strings.Count(n.text(), want); got != len(n.all) || got < 2 || got > 5 || !strings.Contains(n.text(), "3"+want) {
						t.Errorf("the %s were told\n%s\nwant 2 to 5 times N%s, and 3 in the end", who, n.text(), want)
					}
				}
				leaveAll(t, sessions...)
			})
		})
	}
}

// TestHeartbeat verifies that a heartbeat carries step, phase and operation.
func TestHeartbeat(t *testing.T) {
	s := &Session{step: 7, phase: "train"}
	s.SetWaitSource(func() ring.Wait { return ring.Wait{Operation: "barrier", Peer: 3, Since: time.Now()} })
	b := s.beat()
	if w := b.GetWait(); b.GetStep() != 7 || b.GetPhase() != "train" || w.GetPeer() != 3 || w.GetOperation() != "barrier" {
		t.Errorf("the heartbeat has %v", b)
	}
}
