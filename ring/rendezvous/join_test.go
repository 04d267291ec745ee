package rendezvous

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/state"
)

// refuse is the dial function of an address where nobody listens.
func refuse(context.Context, string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
}

// refusedFor returns a dial function to an address where nobody listens for the time d.
func refusedFor(d time.Duration, dial dialFunc) dialFunc {
	start := time.Now()
	return func(ctx context.Context, addr string) (net.Conn, error) {
		if time.Since(start) < d {
			return refuse(ctx, addr)
		}
		return dial(ctx, addr)
	}
}

// TestNobodyThere verifies that a worker reports a missing rendezvous after 2 s and then every 10
// s, and ends at its timeout with 138 and the address.
func TestNobodyThere(t *testing.T) {
	tests := []struct {
		name, last string
		host0      bool
		dial       dialFunc
		lines      []string
	}{
		{
			"in=rank0", "rank 0 (h0:2222) missing after 15s: connection refused; want 20 workers", true, refuse,
			[]string{"rank 0 not reached (h0:2222: connection refused); 13 s left", "rank 0 not reached (h0:2222: connection refused); 3 s left"},
		},
		{
			"in=launcher", "rendezvous at h0:2222 not reached after 15s: name h0 does not resolve", false,
			func(context.Context, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Name: "h0", IsNotFound: true}}
			},
			[]string{"rendezvous not reached (h0:2222: name h0 does not resolve); 13 s left", "rendezvous not reached (h0:2222: name h0 does not resolve); 3 s left"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var lines []string
				start := time.Now()
				_, err := Join(t.Context(), Options{
					Addr: "h0:2222", Rank: 3, WorldSize: 20, Self: Self(":1"), InRank0: tt.host0, StartTimeout: 15 * time.Second, dial: tt.dial,
					Waiting: func(w state.Waiting) { lines = append(lines, w.String()) },
				})
				c, _ := errors.AsType[*ring.Cause](err)
				if c == nil || c.Text != tt.last || exitcode.Of(err) != exitcode.Retry {
					t.Errorf("error %v with code %d, want %s", err, exitcode.Of(err), tt.last)
				}
				if took := time.Since(start); took != 15*time.Second {
					t.Errorf("it took %v, want 15s", took)
				}
				if diff := cmp.Diff(tt.lines, lines); diff != "" {
					t.Errorf("waiting lines: %s", diff)
				}
			})
		})
	}
}

// TestReportToNobody verifies that Report returns after 2 s without a rendezvous.
func TestReportToNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, mine := time.Now(), &ring.Cause{Rank: 1, Text: "mine", ExitCode: 66}
		got := Report(t.Context(), Options{Addr: "h:1", Self: Self(":1"), dial: refuse}, mine)
		if took := time.Since(start); got != mine || took != 2*time.Second {
			t.Errorf("Report gives %v after %v, want its own cause after 2s", got, took)
		}
	})
}

// TestLateWorkers verifies the waiting reports while two of four workers are late, with the probed
// reasons, and the start when they join (S2 of the requirements).
func TestLateWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{
			Addrs: []string{"h0:1", "h1:1", "h2:1", "h3:1"},
			Probe: func(context.Context, state.Probe) state.Probed { return state.Probed{Reason: "connection refused"} },
		})
		start := time.Now()
		var lines [2][]string
		all := s.workers(4)
		for i := range lines {
			all[i].StartTimeout = DefaultStartTimeout
			all[i].Waiting = func(w state.Waiting) { lines[i] = append(lines[i], w.String()) }
		}
		for i := range all[2:] {
			all[2+i].dial = refusedFor(15*time.Second, s.dial)
		}
		sessions := joinAll(t, all...)
		if took := time.Since(start); took > 16*time.Second {
			t.Errorf("the job started after %v, want at most 1s after the last came", took)
		}
		const missing = "2 of 4 present; missing 2 (h2:1: connection refused), 3 (h3:1: connection refused); "
		want := [2][]string{{missing + "298 s left", missing + "293 s left", missing + "288 s left"}, {missing + "298 s left", missing + "288 s left"}}
		leaveAll(t, sessions...)
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("lines of ranks 0 and 1: %s", diff)
		}
	})
}

// TestTimeoutNamesTheMissing verifies that at the start timeout all workers get the same cause,
// with the missing rank, its address and the reason.
func TestTimeoutNamesTheMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{
			StartTimeout: 15 * time.Second, Addrs: []string{"", "", "127.0.0.1:2229"},
			Probe: func(context.Context, state.Probe) state.Probed { return state.Probed{Reason: "connection refused"} },
		})
		errs := make(chan error)
		for _, o := range s.workers(3)[:2] {
			o.StartTimeout = 15 * time.Second
			go func() {
				_, err := Join(t.Context(), o)
				errs <- err
			}()
		}
		for range 2 {
			err := <-errs
			c, _ := errors.AsType[*ring.Cause](err)
			if c == nil || c.Text != "rank 2 (127.0.0.1:2229) missing after 15s: connection refused; want 3 workers" || exitcode.Of(err) != exitcode.Retry {
				t.Errorf("error %v", err)
			}
		}
	})
}

// TestImpatientWorkers verifies workers with start timeouts below that of the rendezvous. They
// report their own time left, and all workers and the rendezvous end when the first one gives up.
// The cause names the missing ranks and no other.
func TestImpatientWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 6
		s := serveInMemory(t, ServerConfig{})
		start := time.Now()
		var lines []string
		ends := make(chan error)
		for _, o := range s.workers(size)[:size-2] {
			o.StartTimeout = time.Duration(14+o.Rank) * time.Second
			if o.Rank == 1 {
				o.Waiting = func(w state.Waiting) { lines = append(lines, w.String()) }
			}
			if o.Rank == 3 { // after the last report to all
				o.dial = refusedFor(13*time.Second, s.dial)
			}
			go func() {
				_, err := Join(t.Context(), o)
				ends <- err
			}()
		}
		const want = "ranks 4-5 (no word yet) missing after 14s; want 6 workers"
		for range size - 2 {
			err := <-ends
			if c, _ := errors.AsType[*ring.Cause](err); c == nil || c.Text != want || exitcode.Of(err) != exitcode.Retry {
				t.Errorf("error %v, want %s", err, want)
			}
		}
		if c := s.Cause(); c == nil || c.Text != want {
			t.Errorf("the rendezvous ends with %v, want %s", c, want)
		}
		if took := time.Since(start); took < 14*time.Second || took > 15*time.Second {
			t.Errorf("it took %v, want the 14s of the least patient", took)
		}
		missing := "3 of 6 present; missing 3-5 (no word yet); "
		if diff := cmp.Diff([]string{missing + "13 s left", missing + "3 s left"}, lines); diff != "" {
			t.Errorf("lines of rank 1: %s", diff)
		}
	})
}

// TestRendezvousComesBack verifies that waiting workers survive a restart of the rendezvous: rank 0
// may crash before all workers have joined.
func TestRendezvousComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := serveInMemory(t, ServerConfig{})
		second := serveAlone(t, ServerConfig{Token: first.token, Unique: true, Probe: first.paths.probe})
		all := first.workers(2)
		all[0].dial = refusedFor(10*time.Second, second.dial)
		tried := false
		all[1].dial = func(ctx context.Context, addr string) (net.Conn, error) {
			if !tried {
				tried = true
				return first.dial(ctx, addr)
			}
			return all[0].dial(ctx, addr)
		}
		time.AfterFunc(5*time.Second, first.grpc.Stop)
		leaveAll(t, joinAll(t, all...)...)
	})
}

// TestSilentClient verifies that a client that opens a stream and sends nothing is disconnected, so
// that Drain ends.
func TestSilentClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		o := s.worker(0, 1)
		m, err := connect(t.Context(), &o, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		defer m.close()
		start := time.Now()
		s.Abort(&ring.Cause{Rank: -1, Text: "over"})
		s.Drain(t.Context())
		if took := time.Since(start); took != openTimeout {
			t.Errorf("drained after %v, want %v", took, openTimeout)
		}
	})
}

// TestOptionsAreChecked verifies that Join names all wrong options at once, before it dials.
func TestOptionsAreChecked(t *testing.T) {
	o := Options{Addr: "h", Rank: 4, WorldSize: 4, StartTimeout: -1, Self: ring.Worker{Addr: "h:0"}}
	_, err := Join(t.Context(), o)
	if exitcode.Of(err) != exitcode.Usage {
		t.Fatalf("error %v with code %d, want 64", err, exitcode.Of(err))
	}
	for _, want := range []string{"rank is 4", "below the world size 4", "start timeout is -1ns", `rendezvous address is "h"`, `own address is "h:0"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not say %q", err, want)
		}
	}
}

// TestCompleteAddr verifies the address that others get for each form of a listen address.
func TestCompleteAddr(t *testing.T) {
	local := &net.TCPAddr{IP: net.ParseIP("10.0.0.2"), Port: 5}
	for addr, want := range map[string]string{
		":4000": "10.0.0.2:4000", "0.0.0.0:4000": "10.0.0.2:4000", "[::]:4000": "10.0.0.2:4000",
		"10.9.9.9:4000": "10.9.9.9:4000", "h7:4000": "h7:4000",
	} {
		if got := completeAddr(addr, local); got != want {
			t.Errorf("complete(%q) = %q, want %q", addr, got, want)
		}
	}
}

// TestSelf verifies that two processes of this host have one host id, and that a restarted process
// has another incarnation.
func TestSelf(t *testing.T) {
	a, b := Self(":1"), Self(":2")
	if a.HostID == "" || a.HostID != b.HostID || a.Host != b.Host || a.PID == 0 {
		t.Errorf("%+v and %+v, want one host and a pid", a, b)
	}
	if a.Incarnation == b.Incarnation {
		t.Errorf("two incarnations are %d", a.Incarnation)
	}
}
