package rendezvous

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/rendezvous/state"
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
		if told > time.Second || !strings.Contains(line, "rendezvous not reached (10.0.0.1:29400: has another token (") {
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
				if tt.code == exitcode.Auth && (!strings.Contains(c.Text, fmt.Sprintf("10.0.0.1:29400 has another token (%v, here %v); gave up after ", s.token.ID(), tt.token.ID()))) {
					t.Errorf("cause %q, want the address and both ids", c.Text)
				}
			})
		})
	}
}

// TestOtherTokenAtTheRendezvous verifies that the others hear of a worker with another token by its
// address, and of no rank, whatever it claims.
func TestOtherTokenAtTheRendezvous(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := serveInMemory(t, ServerConfig{})
		o := s.worker(0, 3)
		o.StartTimeout = 5 * time.Second
		var line string
		o.Waiting = func(w state.Waiting) { line = w.String() }
		wrong := s.worker(1, 3)
		wrong.Token, wrong.StartTimeout = token.New(), time.Second
		if _, err := Join(t.Context(), wrong); exitcode.Of(err) != exitcode.Auth {
			t.Errorf("the worker with another token ends with %v, want 77", err)
		}
		_, err := Join(t.Context(), o)
		times, id := s.port.Strangers().Known[0].Times, wrong.Token.ID()
		reason := fmt.Sprintf("not heard of; 10.0.0.2 came %d times with another token (%v)", times, id)
		if want := "missing 1-2 (" + reason + ")"; !strings.Contains(line, want) {
			t.Errorf("rank 0 is told %q, want %q", line, want)
		}
		if want := "ranks 1-2 (" + reason + ") missing after 5s; want 3 workers"; exitcode.Of(err) != exitcode.Retry || !strings.Contains(err.Error(), want) {
			t.Errorf("rank 0 ends with %v, want %q and 138", err, want)
		}
	})
}
