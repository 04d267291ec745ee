package rendezvous

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	pb "ringtrain/ring/ringpb"
	"ringtrain/ring/token"
)

// memberService is the service of a worker that does not serve the rendezvous.
type memberService struct {
	pb.UnimplementedRendezvousServer
	Member
}

func (b memberService) Status(s statusStream) error { return b.Member.Status(s) }

// serveMember serves m in memory until the test ends, and returns the dial function.
func serveMember(t *testing.T, m Member) dialFunc {
	p, g := newPipeListener(), grpc.NewServer(ServerOptions()...)
	pb.RegisterRendezvousServer(g, memberService{Member: m})
	go g.Serve(p)
	t.Cleanup(g.Stop)
	return p.dial
}

// TestIsMember verifies that only a worker or a rendezvous with the token, in a generation of the
// job, counts as a member.
func TestIsMember(t *testing.T) {
	of := func(job string, generation uint64) func() ring.Membership {
		return func() ring.Membership { return ring.Membership{JobID: job, Rank: 3, Generation: generation} }
	}
	synctest.Test(t, func(t *testing.T) {
		secret, w := token.New(), ring.Worker{Addr: "10.0.0.1:4402"}
		s := serveInMemory(t, ServerConfig{JobID: "j"})
		idle := serveInMemory(t, ServerConfig{JobID: "j"})
		sessions := joinAll(t, s.workers(1)...)
		for _, tt := range []struct {
			name  string
			dial  dialFunc
			token token.Token
			want  bool
			code  int
		}{
			{"worker=in a generation", serveMember(t, Member{secret, of("j", 2)}), secret, true, 0},
			{"worker=fresh", serveMember(t, Member{secret, of("j", 0)}), secret, false, 0},
			{"worker=of another job", serveMember(t, Member{secret, of("k", 2)}), secret, false, 0},
			{"worker=with another token", serveMember(t, Member{token.New(), of("j", 2)}), secret, false, exitcode.Auth},
			{"asks=with another token", serveMember(t, Member{secret, of("j", 2)}), token.Token{}, false, exitcode.Auth},
			{"rendezvous=in a generation", s.dial, s.token, true, 0},
			{"rendezvous=before it", idle.dial, idle.token, false, 0},
			{"nobody=there", refuse, secret, false, exitcode.Retry},
		} {
			got, err := IsMember(t.Context(), w, StatusOptions{JobID: "j", Token: tt.token, dial: tt.dial})
			if got != tt.want || exitcode.Of(err) != tt.code {
				t.Errorf("%s: %v, %v (code %d), want %v and code %d", tt.name, got, err, exitcode.Of(err), tt.want, tt.code)
			}
		}
		leaveAll(t, sessions...)
	})
	if _, err := IsMember(t.Context(), ring.Worker{Addr: "10.0.0.1:4402"}, StatusOptions{dial: refuse}); !errors.Is(err, ErrGone) {
		t.Errorf("nobody listens: %v, want ErrGone", err)
	}
	away := ring.Worker{Addr: "127.0.0.1:1", HostID: "another"}
	if _, err := IsMember(t.Context(), away, StatusOptions{dial: refuse}); !errors.Is(err, errOtherHost) {
		t.Errorf("a loopback address of another host: %v", err)
	}
}

// TestMemberUnproved verifies that a client without a valid handshake learns nothing and is
// disconnected.
func TestMemberUnproved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := serveMember(t, Member{token.New(), func() ring.Membership { return ring.Membership{JobID: "secret", Generation: 1} }})
		raw, err := dial(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		conn, err := grpc.NewClient("passthrough:///x", dialOptions(raw)...)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for name, q := range map[string]*pb.StatusRequest{
			"asks":    {What: &pb.StatusRequest_Ask{Ask: &pb.Ask{Proof: make([]byte, 32)}}},
			"silence": nil,
		} {
			stream, err := pb.NewRendezvousClient(conn).Status(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			if q != nil {
				stream.Send(q)
			}
			if reply, err := stream.Recv(); err == nil || time.Since(start) > handshakeTimeout {
				t.Errorf("%s: answer %v after %v, want none in %v", name, reply, time.Since(start), handshakeTimeout)
			}
		}
	})
}

// TestStatusOfMember verifies the error of a status client that reaches a worker which does not
// serve the rendezvous.
func TestStatusOfMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		secret := token.New()
		dial := serveMember(t, Member{secret, func() ring.Membership { return ring.Membership{JobID: "mnist", Rank: 3, Generation: 1} }})
		l, err := DialStatus(t.Context(), StatusOptions{Addr: "10.0.0.7:4402", Token: secret, dial: dial})
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, err = l.Next(t.Context())
		const want = "10.0.0.7:4402 is the port of rank 3 of job mnist, not of a rendezvous"
		if exitcode.Of(err) != exitcode.Retry || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	})
}
