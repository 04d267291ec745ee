package rendezvous

import (
	"context"
	"net"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/internal/wire"
	pb "ringtrain/ring/ringpb"
	"ringtrain/ring/token"
)

// TestPurposes verifies that a connection that was opened for one purpose cannot be used for another: a
// relayed status joins nothing.
func TestPurposes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		for _, purpose := range []token.Purpose{token.Control, token.Status} {
			raw, err := prove(t.Context(), s.dial, s.addr, s.token, token.Request{Purpose: purpose, From: token.End{Rank: -1}})
			if err != nil {
				t.Fatal(err)
			}
			defer raw.Close()
			conn, err := newClient(raw, s.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			calls := map[token.Purpose]error{}
			_, calls[token.Status] = pb.NewRendezvousClient(conn).Status(t.Context(), new(pb.StatusRequest))
			stream, err := pb.NewRendezvousClient(conn).Meet(t.Context())
			if err == nil {
				_, err = stream.Recv()
			}
			calls[token.Control] = err
			for call, err := range calls {
				if want := map[bool]codes.Code{true: codes.OK, false: codes.PermissionDenied}[call == purpose]; status.Code(err) != want {
					t.Errorf("the call of %v over a connection for %v: %v, want %v", call, purpose, err, want)
				}
			}
		}
	})
}

// TestStatusOfAnotherProtocol verifies that a rendezvous of another protocol that has proved the token
// ends a status with 76, and not with a code that asks for another attempt.
func TestStatusOfAnotherProtocol(t *testing.T) {
	secret := token.New()
	identity, err := token.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	near, far := net.Pipe()
	defer far.Close()
	go func() {
		if c, err := identity.AcceptTLS(far, secret); err == nil {
			c.Answer(token.Answer{Status: exitcode.Protocol, Text: "a ringtrain of protocol 4, here 3"})
		}
	}()
	_, err = DialStatus(t.Context(), StatusOptions{Addr: "10.0.0.1:29400", Token: secret, dial: func(context.Context, string) (net.Conn, error) { return near, nil }})
	const want = "rendezvous at 10.0.0.1:29400: refused: a ringtrain of protocol 4, here 3"
	if exitcode.Of(err) != exitcode.Protocol || err.Error() != want {
		t.Errorf("error is %v with code %d, want %q with %d", err, exitcode.Of(err), want, exitcode.Protocol)
	}
}

// TestJoinIsThatOfItsConnection verifies that a worker can join, report and resume as the rank of the job
// that its connection was opened for, with its incarnation, and as nobody else.
func TestJoinIsThatOfItsConnection(t *testing.T) {
	changes := map[string]func(*pb.Join){
		"job":         func(j *pb.Join) { j.JobId = "another" },
		"rank":        func(j *pb.Join) { j.Rank = 2 },
		"unranked":    func(j *pb.Join) { j.Rank = -1 },
		"incarnation": func(j *pb.Join) { j.Worker.Incarnation++ },
		"worker":      func(j *pb.Join) { j.Worker = nil },
	}
	first := map[string]func(*pb.Join) *pb.WorkerMessage{
		"join": func(j *pb.Join) *pb.WorkerMessage { return &pb.WorkerMessage{What: &pb.WorkerMessage_Join{Join: j}} },
		"report": func(j *pb.Join) *pb.WorkerMessage {
			return &pb.WorkerMessage{What: &pb.WorkerMessage_Report{Report: &pb.Report{Join: j}}}
		},
		"resume": func(j *pb.Join) *pb.WorkerMessage {
			return &pb.WorkerMessage{What: &pb.WorkerMessage_Resume{Resume: &pb.Resume{Join: j}}}
		},
	}
	for what, message := range first {
		for name, change := range changes {
			t.Run(what+"="+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := serveInMemory(t, ServerConfig{JobID: "j"})
					o := s.worker(1, 3)
					o.JobID = "j"
					c, err := connect(t.Context(), &o, o.JobID, o.Rank)
					if err != nil {
						t.Fatal(err)
					}
					defer c.close()
					j := wire.EncodeRequest(o.request())
					change(j)
					if err := c.stream.Send(message(j)); err != nil {
						t.Fatal(err)
					}
					if m, err := c.stream.Recv(); status.Code(err) != codes.InvalidArgument {
						t.Errorf("received %v, %v, want the end of the stream", m, err)
					}
					if st := s.Status(); st.Phase != "idle" || len(st.Ranks) != 0 {
						t.Errorf("the rendezvous knows %+v, want nobody", st)
					}
				})
			})
		}
	}
}
