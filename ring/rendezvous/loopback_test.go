package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/port"
	"ringtrain/ring/rendezvous/state"
	"ringtrain/ring/token"
)

// TestTwentyJoinAndLeave verifies that twenty workers that join in random order get the same
// roster, and that the job ends cleanly.
func TestTwentyJoinAndLeave(t *testing.T) {
	const size = 20
	s := serve(t, ServerConfig{JobID: "job-twenty"})
	all := s.workers(size)
	rand.New(rand.NewPCG(1, 1)).Shuffle(size, func(i, j int) { all[i], all[j] = all[j], all[i] })
	sessions := joinAll(t, all...)
	for i, m := range sessions {
		got := m.Membership()
		if got.JobID != "job-twenty" || got.Generation != 1 || got.Rank != all[i].Rank || got.Size() != size {
			t.Errorf("rank %d: membership %+v", all[i].Rank, got)
		}
		if diff := cmp.Diff(sessions[0].Membership().Workers, got.Workers); diff != "" {
			t.Errorf("rank %d has another roster: %s", got.Rank, diff)
		}
		if w := got.Self(); w.Rank != got.Rank || w.Addr != "127.0.0.1:4000" || w.Incarnation != all[i].Self.Incarnation {
			t.Errorf("worker %d is %+v, want its own rank and incarnation, and its address completed with 127.0.0.1", got.Rank, w)
		}
	}
	leaveAll(t, sessions...)
	wait(t, "end of the job", s.Done())
	closeAll(sessions...)
	s.Drain(t.Context())
	if c := s.Cause(); c != nil {
		t.Errorf("cause after a clean end: %v", c)
	}
}

// TestOneKilled verifies that all others get one cause that names a killed worker, at once.
func TestOneKilled(t *testing.T) {
	const size, killed = 20, 7
	s := serve(t, ServerConfig{})
	all := s.workers(size)
	sessions := joinAll(t, all...)
	s.pathOf(sessions[killed]).kill()
	for rank, m := range sessions {
		if rank == killed {
			continue
		}
		wait(t, fmt.Sprintf("rank %d", rank), m.Context().Done())
		err := context.Cause(m.Context())
		c, ok := errors.AsType[*ring.Cause](err)
		if want := "lost rank 7 (host7 127.0.0.1:4000): connection reset, and nobody listens at its port"; !ok || c.Rank != killed || c.Text != want {
			t.Errorf("rank %d ends with %v, want %s", rank, err, want)
		}
		if !errors.Is(err, ring.ErrGenerationEnded) || exitcode.Of(err) != exitcode.Retry {
			t.Errorf("rank %d: error %v with code %d, want ErrGenerationEnded with 138", rank, err, exitcode.Of(err))
		}
		if got := m.Abort(&ring.Cause{Rank: 6, Text: "symptom", ExitCode: 1}); got.Rank != killed {
			t.Errorf("rank %d aborts and gets %v, want the first cause", rank, got)
		}
		if err := m.Leave(t.Context()); err == nil || !strings.Contains(err.Error(), "lost rank 7") {
			t.Errorf("rank %d leaves with %v, want the first cause", rank, err)
		}
	}
}

// TestGarbage verifies that clients of other protocols neither join nor disturb the workers.
func TestGarbage(t *testing.T) {
	s := serve(t, ServerConfig{})
	for _, hello := range []string{"", "\x00\x00\x00\x00", "GET / HTTP/1.1\r\n\r\n", "SSH-2.0-x\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nxxxxxxxxxxxxxxxxxxxx"} {
		c, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, hello)
	}
	leaveAll(t, joinAll(t, s.workers(3)...)...)
}

// TestProbe verifies the reasons of a missing rank that a probe of its address finds.
func TestProbe(t *testing.T) {
	other := token.New()
	tests := []struct {
		name   string
		answer func(net.Conn) // nil: nobody listens
		want   string
	}{
		{"server=none", nil, "connection refused"},
		{"server=ssh", func(c net.Conn) { io.WriteString(c, "SSH-2.0-OpenSSH_9.2p1\r\n") }, `speaks no TLS: begins with "SSH-2.0-OpenSSH_"`},
		{"server=http", func(c net.Conn) { io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }, `speaks no TLS: begins with "HTTP/1.1 400 Bad`},
		{"server=ringtrain", func(c net.Conn) {
			identity, err := token.NewIdentity()
			if err != nil {
				t.Error(err)
				return
			}
			identity.AcceptTLS(c, other)
		}, "has another token (" + other.ID().String() + ", here none)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			done := make(chan struct{})
			if tt.answer == nil {
				l.Close()
				close(done)
			} else {
				go func() {
					defer close(done)
					if c, err := l.Accept(); err == nil {
						tt.answer(c)
						io.Copy(io.Discard, c) // until the other end closes
						c.Close()
					}
				}()
			}
			got := probe(t.Context(), state.Probe{Rank: 12, Addr: l.Addr().String()}, token.Token{})
			if !strings.HasPrefix(got.Reason, tt.want) || got.Refused != (tt.answer == nil) || got.Owner != 0 {
				t.Errorf("probe says %+v, want %q", got, tt.want)
			}
			l.Close()
			<-done
		})
	}
}

// TestProbeOwner verifies the reason of a missing rank if another worker or a rendezvous with the same
// token listens at its address, and what a member's port answers.
func TestProbeOwner(t *testing.T) {
	long := strings.Repeat("a", 300)
	tests := []struct {
		name  string
		owner port.Owner
		want  string
	}{
		{"rank=other", port.Owner{JobID: "mine", Rank: 3}, "is rank 3's"},
		{"rank=other/job=unknown", port.Owner{Rank: 0}, "is rank 0's"},
		{"job=other", port.Owner{JobID: "older", Rank: 12}, "answers for run older, not mine"},
		{"job=other/rank=other", port.Owner{JobID: "older", Rank: 3}, "answers for run older, not mine"},
		{"job=other/rank=unknown", port.Owner{JobID: "older", Rank: -1}, "answers for run older, not mine"},
		{"job=hostile", port.Owner{JobID: "a\x1b[2J\nb\xff", Rank: 3}, "answers for run a?[2J?b?, not mine"},
		{"job=long", port.Owner{JobID: long, Rank: 3}, "answers for run " + long[:77] + "…, not mine"},
		{"rank=own", port.Owner{JobID: "mine", Rank: 12}, "accepts connections, has not joined"},
		{"rank=own/job=unknown", port.Owner{Rank: 12}, "accepts connections, has not joined"},
		{"rank=unknown", port.Owner{JobID: "mine", Rank: -1}, "accepts connections, has not joined"},
		{"rendezvous", port.Owner{Rendezvous: true, JobID: "mine", Rank: -1}, "is the rendezvous of run mine"},
		{"rendezvous/job=unknown", port.Owner{Rendezvous: true, Rank: -1}, "is a rendezvous, of no rank"},
	}
	secret := token.New()
	p, err := port.Listen("127.0.0.1:0", secret)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p.SetOwner(func() port.Owner { return tt.owner })
			if got := probe(t.Context(), state.Probe{JobID: "mine", Rank: 12, Addr: p.Addr()}, secret); got != (state.Probed{Reason: tt.want}) {
				t.Errorf("probe says %+v, want %q", got, tt.want)
			}
		})
	}
	p.SetOwner(func() port.Owner { return port.Owner{JobID: "mine", Rank: 12, Incarnation: 7, Follows: 8} })
	if got := probe(t.Context(), state.Probe{Rank: 12, Incarnation: 6, Addr: p.Addr()}, secret); got != (state.Probed{Owner: 7, Follows: 8}) {
		t.Errorf("probe of a member says %+v, want incarnation 7, which follows 8", got)
	}
}
