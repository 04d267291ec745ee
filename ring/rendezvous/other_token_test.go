package rendezvous

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
	"ringtrain/ring/token"
)

// otherServerWhile returns a dial function that reaches another server while from() is true.
func otherServerWhile(other, own dialFunc, from func() bool) dialFunc {
	return func(ctx context.Context, addr string) (net.Conn, error) {
		if from() {
			return other(ctx, addr)
		}
		return own(ctx, addr)
	}
}

// until returns a function that is true for the time d.
func until(d time.Duration) func() bool {
	start := time.Now()
	return func() bool { return time.Since(start) < d }
}

// TestOtherTokenBeforeStart verifies that workers survive a server with another token at the
// address of the rendezvous, report it within the first second, and start when the right server is
// there.
func TestOtherTokenBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other, s := serveInMemory(t, ServerConfig{}), serveInMemory(t, ServerConfig{})
		all, start := s.workers(2), time.Now()
		var told time.Duration
		var line string
		all[1].Waiting = func(w state.Waiting) {
			if line == "" {
				told, line = time.Since(start), w.String()
			}
		}
		for i := range all {
			all[i].dial = otherServerWhile(other.dial, s.dial, until(45*time.Second))
		}
		sessions := joinAll(t, all...)
		if took := time.Since(start); took > 47*time.Second {
			t.Errorf("the job started after %v, want soon after 45s", took)
		}
		if told > time.Second || !strings.Contains(line, "waiting for the rendezvous (10.0.0.1:29400: ") || !strings.Contains(line, "token") {
			t.Errorf("after %v people are told %q, want the token within a second", told, line)
		}
		leaveAll(t, sessions...)
	})
}

// TestOtherTokenOnly verifies when a server with another token ends a worker with 77: after 60
// s of only such servers, and at the start timeout if one was met shortly before.
func TestOtherTokenOnly(t *testing.T) {
	tests := []struct {
		name    string
		token   token.Token
		timeout time.Duration
		other   func(time.Duration) bool // when another server is met
		want    time.Duration
		code    int
	}{
		{"token=another", token.New(), 300 * time.Second, func(time.Duration) bool { return false }, 60 * time.Second, exitcode.Auth},
		{"token=none", token.Token{}, 300 * time.Second, func(time.Duration) bool { return false }, 60 * time.Second, exitcode.Auth},
		{"timeout=20s", token.New(), 20 * time.Second, func(time.Duration) bool { return false }, 20 * time.Second, exitcode.Auth},
		{"at first=nobody", token.New(), 300 * time.Second, func(d time.Duration) bool { return d < 30*time.Second }, 90 * time.Second, exitcode.Auth},
		{"at last=nobody for 5s", token.New(), 50 * time.Second, func(d time.Duration) bool { return d >= 45*time.Second }, 50 * time.Second, exitcode.Auth},
		{"in between=nobody", token.New(), 100 * time.Second, func(d time.Duration) bool { return d/time.Second == 49 || d >= 85*time.Second }, 100 * time.Second, exitcode.Retry},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, start := serveInMemory(t, ServerConfig{}), time.Now()
				o := s.worker(1, 2)
				o.Token, o.StartTimeout = tt.token, tt.timeout
				o.dial = otherServerWhile(refuse, s.dial, func() bool { return tt.other(time.Since(start)) })
				_, err := Join(t.Context(), o)
				c, _ := errors.AsType[*ring.Cause](err)
				if took := time.Since(start); took < tt.want || took > tt.want+time.Second {
					t.Errorf("it ended after %v, want %v", took, tt.want)
				}
				if c == nil || exitcode.Of(err) != tt.code || c.ExitCode != tt.code {
					t.Fatalf("error %v with code %d, want code %d", err, exitcode.Of(err), tt.code)
				}
				if tt.code == exitcode.Auth && (!strings.Contains(c.Text, "rendezvous at 10.0.0.1:29400 not reached after") || !strings.Contains(c.Text, tt.token.String())) {
					t.Errorf("cause %q, want the address and %v", c.Text, tt.token)
				}
			})
		})
	}
}

// impostor is a server that proves nothing, asks for proofs, and answers with an end.
type impostor struct {
	pb.UnimplementedRendezvousServer
	answer *pb.RendezvousMessage
	proofs chan []byte
}

func (i *impostor) Meet(stream workerStream) error {
	if _, err := stream.Recv(); err != nil {
		return err
	}
	challenge := &pb.Challenge{Nonce: newNonce(), Proof: newNonce()}
	if err := stream.Send(&pb.RendezvousMessage{What: &pb.RendezvousMessage_Challenge{Challenge: challenge}}); err != nil {
		return err
	}
	m, err := stream.Recv()
	if err != nil {
		return err
	}
	i.proofs <- m.GetJoin().GetProof()
	return stream.Send(i.answer)
}

// TestOtherTokenUnproved verifies that a worker neither obeys a server that has not proved the token
// nor proves the token to it.
func TestOtherTokenUnproved(t *testing.T) {
	end := func(code int) *pb.Cause {
		return wire.EncodeCause(&ring.Cause{Rank: 1, Text: "go away", ExitCode: code})
	}
	for name, answer := range map[string]*pb.RendezvousMessage{
		"answer=refused": {What: &pb.RendezvousMessage_Refused{Refused: end(exitcode.Retry)}},
		"answer=version": {What: &pb.RendezvousMessage_Abort{Abort: end(exitcode.Protocol)}},
		"answer=ended":   {What: &pb.RendezvousMessage_End{End: &pb.End{}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, n, s := newPipeListener(), &impostor{answer: answer, proofs: make(chan []byte, 1000)}, serveInMemory(t, ServerConfig{})
				g := grpc.NewServer(serverOptions()...)
				pb.RegisterRendezvousServer(g, n)
				go g.Serve(p)
				defer g.Stop()
				o := s.worker(0, 1)
				o.dial = otherServerWhile(p.dial, s.dial, until(10*time.Second))
				leaveAll(t, joinAll(t, o)...)
				if len(n.proofs) < 10 {
					t.Errorf("the impostor was asked %d times, want one try after the other", len(n.proofs))
				}
				for range len(n.proofs) {
					if proof := <-n.proofs; len(proof) > 0 {
						t.Fatal("the worker has proved the token to the impostor")
					}
				}
			})
		})
	}
}
