package grpclink

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/status"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/link/internal/handshake"
)

// opened is what Open returned.
type opened struct {
	link ring.Link
	err  error
}

// open runs Open and delivers what it returns.
func open(ctx context.Context, m ring.Membership, a *Acceptor, c Config) <-chan opened {
	ch := make(chan opened, 1)
	go func() {
		l, err := Open(ctx, m, a, c)
		ch <- opened{l, err}
	}()
	return ch
}

// meet waits for both ends of a world of two and sends a frame each way.
func meet(t *testing.T, ends ...<-chan opened) {
	t.Helper()
	links := make([]ring.Link, len(ends))
	for i, ch := range ends {
		o := <-ch
		if o.err != nil {
			t.Fatalf("end %d: %v", i, o.err)
		}
		defer o.link.Close()
		links[i] = o.link
	}
	for i, l := range links {
		if err := l.Send(t.Context(), ring.Frame{Kind: ring.KindData, Payload: []byte{byte(i)}}); err != nil {
			t.Fatal(err)
		}
	}
	for i, l := range links {
		f, err := l.Recv(t.Context(), make([]byte, 1))
		if left := (i + len(links) - 1) % len(links); err != nil || f.Payload[0] != byte(left) {
			t.Fatalf("end %d received %v, %v, want %d", i, f.Payload, err, left)
		}
	}
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// call opens a stream to the server of m's right neighbour; it ends with the
// test.
func call(t *testing.T, m ring.Membership) grpc.ClientStream {
	t.Helper()
	var d dialer
	conn, err := grpc.NewClient("passthrough:///"+m.Right().Addr, dialOptions(d.dial)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	desc := streamDesc(nil)
	s, err := conn.NewStream(within(t, 10*time.Second), &desc, fullMethod)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestStrangers sends to rank 1 of 2 whoever must not get in, while it waits for
// rank 0. It fails if a stranger is not refused in the right words, or if rank 0
// does not get in after them.
func TestStrangers(t *testing.T) {
	changes := []struct {
		name   string
		change func(m *ring.Membership)
		token  bool
		want   string
	}{
		{"job", func(m *ring.Membership) { m.JobID = "other" }, true, `job id is "other", want "job-1"`},
		{"generation", func(m *ring.Membership) { m.Generation = 2 }, true, "generation is 2, want 3"},
		{"to", func(m *ring.Membership) { m.Workers[1].Rank = 5 }, true, "this is rank 1, not rank 5"},
		{"from", func(m *ring.Membership) { m.Workers[0].Rank = 5 }, true, "from rank is 5, want 0"},
		{"dialer", func(m *ring.Membership) { m.Workers[0].Incarnation = 1 }, true, "incarnation of rank 0 is 0x1, want 0x64"},
		{"acceptor", func(m *ring.Membership) { m.Workers[1].Incarnation = 1 }, true, "incarnation of rank 1 is 0x1, want 0x65"},
		{"token", func(*ring.Membership) {}, false, "another token"},
	}
	ctx := within(t, 10*time.Second)
	token := ring.NewToken()
	acceptors, members := world(t, 2)
	one := open(ctx, members[1], acceptors[1], Config{Token: token})
	for _, c := range changes {
		m := members[0]
		m.Workers = slices.Clone(m.Workers)
		c.change(&m)
		p := handshake.Party{Membership: m}
		if c.token {
			p.Token = token
		}
		if err := shake(call(t, members[0]), p.Dial); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("wrong %s: error %v, want %q", c.name, err, c.want)
		}
	}
	for _, garbage := range []string{"", "x", "RTL\x01\x5b\x00", strings.Repeat("x", 1<<10), strings.Repeat("x", maxMessageBytes)} {
		call(t, members[0]).SendMsg(&outMessage{head: []byte(garbage)}) // and says nothing more
	}
	meet(t, open(ctx, members[0], acceptors[0], Config{Token: token}), one)
}

// TestOtherServices fails if the codec of links breaks the protobuf services of
// the same server, or if the server takes long messages for them.
func TestOtherServices(t *testing.T) {
	_, members := world(t, 1)
	conn, err := grpc.NewClient(members[0].Self().Addr, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := healthpb.NewHealthClient(conn)
	got, err := client.Check(t.Context(), &healthpb.HealthCheckRequest{})
	if err != nil || got.Status != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("health is %v, %v, want SERVING", got, err)
	}
	_, err = client.Check(t.Context(), &healthpb.HealthCheckRequest{Service: strings.Repeat("x", 2*maxMessageBytes)})
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("error %v, want ResourceExhausted", err)
	}
}

// TestNextGeneration fails if an Acceptor cannot serve the next generation,
// after an Open that succeeded or one that gave up.
func TestNextGeneration(t *testing.T) {
	acceptors, members := world(t, 2)
	for generation := uint64(1); generation <= 3; generation++ {
		members[0].Generation, members[1].Generation = generation, generation
		if generation == 2 {
			if o := <-open(within(t, 20*time.Millisecond), members[1], acceptors[1], Config{}); o.err == nil {
				t.Fatal("rank 1 opened a link alone")
			}
		}
		ctx := within(t, 10*time.Second)
		meet(t, open(ctx, members[0], acceptors[0], Config{}), open(ctx, members[1], acceptors[1], Config{}))
	}
}

// TestMissing fails if a worker whose neighbours are not there waits for longer
// than its context, or does not name them both with the reasons.
func TestMissing(t *testing.T) {
	acceptors, members := world(t, 3)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	m := members[0]
	m.Workers = slices.Clone(m.Workers)
	m.Workers[1].Addr = closed.Addr().String()
	cause := errors.New("start timeout")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 300*time.Millisecond, cause)
	defer cancel()
	ch := open(ctx, m, acceptors[0], Config{})
	two := members[2]
	two.Rank = 1 // pretends to be rank 1, but calls rank 0
	if err := shake(call(t, members[2]), handshake.Party{Membership: two}.Dial); err == nil {
		t.Error("rank 1 passed for rank 2")
	}
	o := <-ch
	pe, ok := errors.AsType[*ring.PeerError](o.err)
	if !ok || pe.Op != "handshake" || pe.Rank != 1 || exitcode.Of(o.err) != exitcode.Retry || !errors.Is(o.err, cause) {
		t.Errorf("error %v (code %d), want a PeerError of rank 1 with exitcode.Retry and the cause", o.err, exitcode.Of(o.err))
	}
	for _, want := range []string{
		"peer rank 1 (" + closed.Addr().String() + ")", "connection refused",
		"peer rank 2 (" + m.Workers[2].Addr + ")", "did not connect", "this is rank 0, not rank 2",
	} {
		if !strings.Contains(fmt.Sprint(o.err), want) {
			t.Errorf("error %q, want %q in it", o.err, want)
		}
	}
}

// TestWrongToken fails if a worker whose neighbour has another token goes on
// trying, or does not end with exitcode.Auth.
func TestWrongToken(t *testing.T) {
	acceptors, members := world(t, 3) // rank 2 is silent, so that rank 1 stays
	ctx := within(t, 10*time.Second)
	ending, end := context.WithCancel(ctx)
	zero := open(ctx, members[0], acceptors[0], Config{Token: ring.NewToken()})
	one := open(ending, members[1], acceptors[1], Config{})
	o := <-zero
	if exitcode.Of(o.err) != exitcode.Auth || ctx.Err() != nil {
		t.Errorf("error %v (code %d), want exitcode.Auth at once", o.err, exitcode.Of(o.err))
	}
	end()
	if o := <-one; o.err == nil {
		t.Error("rank 1 has a link to a worker with another token")
	}
}
