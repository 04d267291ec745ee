package doctor

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/port"
	"ringtrain/ring/token"
)

// memListener is a listener in memory.
type memListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (m *memListener) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memListener) Addr() net.Addr { return &net.TCPAddr{} }

func (m *memListener) Close() error {
	close(m.closed)
	return nil
}

// pathKind says how a dialled connection behaves.
type pathKind string

const (
	open    pathKind = ""
	refuses pathKind = "refuses"
	drops   pathKind = "drops" // drops every packet
	silent  pathKind = "silent"
	narrow  pathKind = "narrow" // drops packets larger than the MTU
	tiny    pathKind = "tiny"   // likewise, and the first packet of TLS is larger
	slow    pathKind = "slow"
)

// wire is a connection with a limited rate. After a write larger than the largest, it delivers
// nothing more.
type wire struct {
	net.Conn
	rate, largest int
	lost          bool
}

const wireRate = 10e6

func (w *wire) Write(p []byte) (int, error) {
	<-time.After(time.Duration(len(p)) * time.Second / time.Duration(w.rate))
	if w.lost = w.lost || w.largest > 0 && len(p) > w.largest; w.lost {
		return len(p), nil
	}
	return w.Conn.Write(p)
}

// memNetwork is a network of workers in memory.
type memNetwork struct {
	members   ring.Membership
	token     token.Token
	listeners []*memListener
	paths     map[[2]int]pathKind
	ahead     map[int]time.Duration
}

func newMemNetwork(hosts ...string) *memNetwork {
	w := &memNetwork{members: network(hosts...), token: token.New(), paths: map[[2]int]pathKind{}, ahead: map[int]time.Duration{}}
	for range hosts {
		w.listeners = append(w.listeners, &memListener{make(chan net.Conn), make(chan struct{})})
	}
	return w
}

func (n *memNetwork) cut(a, b int, how pathKind) {
	n.paths[[2]int{a, b}], n.paths[[2]int{b, a}] = how, how
}

// dial connects a rank to an address.
func (n *memNetwork) dial(ctx context.Context, from int, addr string) (net.Conn, error) {
	to := 0
	for n.members.Workers[to].Addr != addr {
		to++
	}
	how := n.paths[[2]int{from, to}]
	switch how {
	case refuses:
		return nil, &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	case drops:
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Err: ctx.Err()}
	}
	ours, theirs := net.Pipe()
	if how == silent {
		go io.Copy(io.Discard, theirs)
		return ours, nil
	}
	select {
	case n.listeners[to].conns <- theirs:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c := &wire{Conn: ours, rate: wireRate}
	switch how {
	case narrow:
		c.largest = 4 << 10 // the messages of the exchange are smaller, those of the measurement larger
	case tiny:
		c.largest = 500
	case slow:
		c.rate /= 8
	}
	return c, nil
}

// outcome is the result of Examine on one rank.
type outcome struct {
	report *Report
	err    error
	took   time.Duration
}

// examine runs Examine on all ranks but those absent.
func (n *memNetwork) examine(ctx context.Context, absent ...int) []outcome {
	all, ports := make([]outcome, n.members.Size()), make([]*port.Port, n.members.Size())
	for rank, lis := range n.listeners {
		var err error
		if ports[rank], err = port.Serve(lis, n.token); err != nil {
			panic(err)
		}
	}
	var busy sync.WaitGroup
	for rank := range all {
		if len(absent) > 0 && rank == absent[0] {
			continue
		}
		m := n.members
		m.Rank = rank
		start := time.Now()
		busy.Go(func() {
			r, err := Examine(ctx, Config{
				Membership: m, Links: ports[rank].Links(), Token: n.token, Host: Inspect("1", "k", nil),
				dial: func(ctx context.Context, addr string) (net.Conn, error) { return n.dial(ctx, rank, addr) },
				now:  func() time.Time { return time.Now().Add(n.ahead[rank]) },
			})
			all[rank] = outcome{r, err, time.Since(start)}
		})
	}
	busy.Wait()
	for _, p := range ports {
		p.Close()
	}
	return all
}

// TestExamine verifies that faults between workers are found and hide nothing else, and that Examine
// keeps its limit.
func TestExamine(t *testing.T) {
	tests := []struct {
		name  string
		size  int
		ill   func(w *memNetwork)
		code  int
		want  []string
		after time.Duration // at most
	}{
		{"all well", 2, func(*memNetwork) {}, 0, nil, 3 * time.Second},
		{"all well, odd", 5, func(*memNetwork) {}, 0, nil, 3 * time.Second},
		{"slow", 3, func(w *memNetwork) { w.paths[[2]int{1, 2}] = slow }, 0, []string{
			"link rank 1 on h1 -> rank 2 on h2: 10 Mbit/s where others have 80 Mbit/s"}, 3 * time.Second},
		{"pair cut", 3, func(w *memNetwork) { w.cut(1, 2, drops) }, 138, []string{
			"link rank 1 on h1 -> rank 2 on h2 at 10.0.0.2:7000: connect timeout", "link rank 2 on h2 -> rank 1 on h1 at 10.0.0.1:7000: connect timeout"}, 10 * time.Second},
		{"one way refused", 4, func(w *memNetwork) { w.paths[[2]int{3, 1}] = refuses }, 138, []string{
			"link rank 3 on h3 -> rank 1 on h1 at 10.0.0.1:7000: connection refused"}, 10 * time.Second},
		{"rank 0 dials in vain", 3, func(w *memNetwork) { w.paths[[2]int{0, 1}], w.paths[[2]int{0, 2}] = refuses, refuses }, 138, []string{
			"link rank 0 on h0 -> rank 1 on h1 at 10.0.0.1:7000: connection refused", "link rank 0 on h0 -> rank 2 on h2 at 10.0.0.2:7000: connection refused"}, 10 * time.Second},
		{"somebody else listens", 3, func(w *memNetwork) { w.paths[[2]int{0, 1}] = silent }, 138, []string{
			"link rank 0 on h0 -> rank 1 on h1 at 10.0.0.1:7000: no answer"}, 10 * time.Second},
		{"large packets vanish", 3, func(w *memNetwork) { w.paths[[2]int{1, 2}] = narrow }, 138, []string{
			"link rank 1 on h1 -> rank 2 on h2 at 10.0.0.2:7000: 64 bytes pass, larger packets do not (MTU?): no answer"}, 10 * time.Second},
		{"packets of the handshake vanish", 3, func(w *memNetwork) { w.paths[[2]int{1, 2}] = tiny }, 138, []string{
			"link rank 1 on h1 -> rank 2 on h2 at 10.0.0.2:7000: small packets pass, larger packets do not (MTU?)"}, 10 * time.Second},
		{"large packets to rank 0 vanish", 4, func(w *memNetwork) { w.paths[[2]int{3, 0}] = narrow }, 138, []string{
			"link rank 3 on h3 -> rank 0 on h0 at 10.0.0.0:7000: 64 bytes pass, larger packets do not (MTU?): no answer"}, 10 * time.Second},
		{"clock", 3, func(w *memNetwork) { w.ahead[2] = 40 * time.Second }, 0, []string{"rank 2 on h2: clock is 40 s ahead of rank 0's"}, 3 * time.Second},
	}
	for _, tt := range tests {
		t.Run("case="+tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newMemNetwork([]string{"h0", "h1", "h2", "h3", "h4"}[:tt.size]...)
				tt.ill(w)
				all := w.examine(t.Context())
				for rank, o := range all {
					if o.err != nil || (o.report != nil) != (rank == 0) || o.took > tt.after {
						t.Errorf("rank %d: %v, report %v after %v, want at most %v", rank, o.err, o.report, o.took, tt.after)
					}
				}
				v := all[0].report.Verdict()
				var got []string
				for _, f := range v.Findings {
					got = append(got, f.Text)
				}
				if v.Code != tt.code || strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
					t.Errorf("code %d and\n%s\nwant %d and\n%s", v.Code, strings.Join(got, "\n"), tt.code, strings.Join(tt.want, "\n"))
				}
			})
		})
	}
}

// TestSilentRank verifies that a rank that connects and then takes no part is named, and that the
// others keep the limit.
func TestSilentRank(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := newMemNetwork("a", "b", "c").examine(t.Context(), 1)
		if c := all[0].report.Verdict().Cause(); c.ExitCode != exitcode.Retry || !strings.HasPrefix(c.Text, "rank 1 on b: ") {
			t.Errorf("the worst is %+v, want rank 1", c)
		}
		for _, rank := range []int{0, 2} {
			if o := all[rank]; o.err != nil || o.took > DefaultLimit {
				t.Errorf("rank %d: %v after %v", rank, o.err, o.took)
			}
		}
	})
}

// TestNoPath verifies that rank 0 misses the report of a rank that has no connection with it, and that
// neither waits.
func TestNoPath(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newMemNetwork("a", "b")
		w.cut(0, 1, drops)
		all := w.examine(t.Context())
		for rank, o := range all {
			if o.err != nil || o.took > connectTimeout+time.Second {
				t.Errorf("rank %d: %v after %v", rank, o.err, o.took)
			}
		}
		if c := all[0].report.Verdict().Cause(); c.ExitCode != exitcode.Retry || c.Text != "rank 1 on b: rank 0 has not received its report" {
			t.Errorf("the worst is %+v", c)
		}
	})
}

// TestLost verifies that the end of the generation ends the examination at once and is its
// error.
func TestLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := exitcode.With(exitcode.Retry, errors.New("lost rank 1"))
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(lost) })
		w := newMemNetwork("a", "b", "c")
		w.cut(0, 2, drops)
		for rank, o := range w.examine(ctx) {
			if !errors.Is(o.err, lost) || o.took.Round(time.Millisecond) != time.Second {
				t.Errorf("rank %d: %v after %v, want %v after a second", rank, o.err, o.took, lost)
			}
		}
	})
}

// TestAnswerRefuses verifies that malformed bytes do not make an answering worker panic, wait for
// ever, or allocate much.
func TestAnswerRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"long payload": "\x01\x00\x40\x00",
		"negative":     "\xff\xff\xff\xff",
		"cut":          "\x00\x00",
		"cut payload":  "\x40\x00\x00\x00x",
	} {
		t.Run("bytes="+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := sends(text)
				defer conn.Close()
				if err := answer(conn, time.Now().Add(time.Minute), time.Now); err == nil {
					t.Error("no error")
				}
			})
		})
	}
}

// TestReceiveRefuses verifies that a malformed report is an error and that its length is not believed.
func TestReceiveRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"long":    "\x01\x00\x10\x00{}",
		"cut":     "\x03\x00\x00\x00{}",
		"no JSON": "\x02\x00\x00\x00}{",
	} {
		t.Run("bytes="+name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := sends(text)
				defer conn.Close()
				var r rankReport
				if err := receive(conn, &r); err == nil {
					t.Error("no error")
				}
			})
		})
	}
}

// sends returns a connection whose other end sends text and closes.
func sends(text string) net.Conn {
	ours, theirs := net.Pipe()
	go io.Copy(io.Discard, theirs)
	go func() {
		io.WriteString(theirs, text)
		theirs.Close()
	}()
	return ours
}
