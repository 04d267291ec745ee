package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/internal/wire"
	"ringtrain/ring/rendezvous/state"
	pb "ringtrain/ring/ringpb"
	"ringtrain/ring/token"
)

// statusClient returns a client for jobID that closes with the test.
func (s *testServer) statusClient(t *testing.T, jobID string) *StatusClient {
	t.Helper()
	l, err := DialStatus(t.Context(), StatusOptions{Addr: s.addr, Token: s.token, JobID: jobID, dial: s.dial})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Close)
	return l
}

func next(t *testing.T, l *StatusClient) []state.Status {
	t.Helper()
	all, err := l.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestStatus verifies the status of a job from its start to its end.
func TestStatus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{JobID: "j", Restarts: 2, StartTimeout: time.Minute})
		l := s.statusClient(t, "")
		if all := next(t, l); len(all) != 1 || all[0].Phase != "idle" || all[0].JobID != "j" {
			t.Fatalf("before the first worker: %+v", all)
		}
		o := s.workers(3)
		var sessions []*Session
		joined := make(chan struct{})
		go func() { sessions = joinAll(t, o[0], o[2]); close(joined) }()
		time.Sleep(3 * time.Second)
		st := next(t, l)[0]
		if st.Phase != "waiting" || st.Present != 2 || st.WorldSize != 3 || st.Remaining.Round(time.Second) != 57*time.Second || len(st.Ranks) != 3 ||
			st.Ranks[1].Present || st.Ranks[1].Reason != "no word yet" || st.Ranks[1].Missing < 2*time.Second {
			t.Errorf("while one is missing: %+v", st)
		}
		last := joinAll(t, o[1])
		<-joined
		sessions = append(sessions, last...)
		for _, m := range sessions {
			wait := ring.Wait{Operation: "barrier", Seq: 5, Peer: 1, Since: time.Now()}
			if m.Membership().Rank == 1 {
				wait = ring.Wait{Seq: 5, Peer: -1}
			}
			m.SetWaitSource(func() ring.Wait { return wait })
		}
		for step := range int64(8) {
			for _, m := range sessions {
				m.Progress(2*step, "train")
			}
			time.Sleep(time.Second)
		}
		st = next(t, l)[0]
		want := "2 of 3 ranks wait for rank 1: host=host1 addr=10.0.0.2:4000 phase=train step="
		if st.Phase != "running" || st.Step < 12 || st.StepsPerS < 1.5 || st.StepsPerS > 2.5 || st.RestartsLeft != 2 ||
			st.Ranks[2].Wait.Peer != 1 || st.Ranks[2].Wait.Operation != "barrier" || st.Ranks[1].Phase != "train" || st.Ranks[1].Worker.Host != "host1" {
			t.Errorf("in training: %+v", st)
		}
		time.Sleep(4 * time.Second)
		if st = next(t, l)[0]; !strings.HasPrefix(st.Stall, want) {
			t.Errorf("stall is %q, want %q…", st.Stall, want)
		}
		leaveAll(t, sessions...)
		if st = next(t, l)[0]; !st.Ended() || st.Cause != nil {
			t.Errorf("after the end: %+v", st)
		}
		if all := next(t, s.statusClient(t, "another")); len(all) != 0 {
			t.Errorf("another job: %+v", all)
		}
	})
}

// TestStatusRefused verifies that a client with a wrong token learns nothing but the token's id, and
// that a client that does not reach the rendezvous learns why.
func TestStatusRefused(t *testing.T) {
	s := serve(t, ServerConfig{})
	other := token.New()
	_, err := DialStatus(t.Context(), StatusOptions{Addr: s.addr, Token: other})
	if want := fmt.Sprintf("%s has another token (%v, here %v)", s.addr, s.token.ID(), other.ID()); exitcode.Of(err) != exitcode.Auth || fmt.Sprint(err) != want {
		t.Errorf("with another token: %v, want %q and code 77", err, want)
	}
	_, err = DialStatus(t.Context(), StatusOptions{Addr: "127.0.0.1:9", Token: s.token, dial: func(context.Context, string) (net.Conn, error) {
		return nil, errors.New("no such wire")
	}})
	if exitcode.Of(err) != exitcode.Retry || !strings.Contains(err.Error(), "127.0.0.1:9 not reached: no such wire") {
		t.Errorf("without a rendezvous: %v", err)
	}
	if _, err = DialStatus(t.Context(), StatusOptions{Addr: "nothing"}); exitcode.Of(err) != exitcode.Usage {
		t.Errorf("without a port: %v", err)
	}
}

// TestStatusLate verifies that a client can tell a slow rendezvous from one that has ended.
func TestStatusLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stopped := func(context.Context, string) (net.Conn, error) {
			conn, peer := net.Pipe()
			go io.Copy(io.Discard, peer)
			return conn, nil
		}
		_, err := DialStatus(t.Context(), StatusOptions{Addr: "127.0.0.1:9", Token: token.New(), dial: stopped})
		if !errors.Is(err, ErrLate) || exitcode.Of(err) != exitcode.Retry {
			t.Errorf("without an answer: %v with code %d, want ErrLate with 138", err, exitcode.Of(err))
		}
	})
	refused := func(context.Context, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	}
	_, err := DialStatus(t.Context(), StatusOptions{Addr: "127.0.0.1:9", Token: token.New(), dial: refused})
	if !errors.Is(err, ErrGone) || !strings.HasSuffix(err.Error(), "127.0.0.1:9 not reached: connection refused") {
		t.Errorf("where nobody listens: %v", err)
	}
}

// TestThousandJoin verifies that a thousand workers can join one server in bounded memory, and logs
// the memory. The workers are simulated: they do not store the membership, and send no heartbeats.
// The fake clock stands still while a goroutine works, so no timeout is too short for the machine.
func TestThousandJoin(t *testing.T) {
	if testing.Short() {
		t.Skip("long: takes a second")
	}
	const size = 1000
	start := time.Now()
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		before := liveBytes()
		var wg sync.WaitGroup
		meetings := make([]*connection, size)
		for rank, o := range s.workers(size) {
			wg.Go(func() {
				var err error
				if meetings[rank], err = joinForgetful(t.Context(), &o); err != nil {
					t.Errorf("rank %d: %v", rank, err)
				}
			})
		}
		wg.Wait()
		used := (liveBytes() - before) >> 20
		t.Logf("%d workers have joined; server and workers take %d MiB", size, used)
		if used > 800 { // 270 to 350 of a machine at rest, 470 of a busy one: more is in flight there
			t.Errorf("server and workers take %d MiB, want at most 800", used)
		}
		for _, m := range meetings {
			if m != nil {
				m.close()
			}
		}
	})
	t.Logf("they joined and went in %v", time.Since(start).Round(time.Millisecond))
}

// liveBytes returns the memory in use after a collection.
func liveBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// joinForgetful joins and returns when the membership has arrived.
func joinForgetful(ctx context.Context, o *Options) (*connection, error) {
	m, err := connect(ctx, o, o.JobID, o.Rank)
	for err != nil { // so many come at once that not all have a seat at the port
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(firstBackOff):
		}
		m, err = connect(ctx, o, o.JobID, o.Rank)
	}
	j := wire.EncodeRequest(o.request())
	m.complete(j)
	if err := m.stream.Send(&pb.WorkerMessage{What: &pb.WorkerMessage_Join{Join: j}}); err != nil {
		return m, err
	}
	for {
		any := new(pb.End) // all fields are unknown to it and are not decoded
		if err := m.stream.RecvMsg(any); err != nil {
			return m, err
		}
		if len(any.ProtoReflect().GetUnknown()) > 10<<10 {
			return m, nil
		}
	}
}
