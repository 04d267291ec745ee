package launch

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringtrain/ring/exitcode"
)

// TestCandidates verifies the order in which an agent tries the addresses of the
// rendezvous.
func TestCandidates(t *testing.T) {
	tests := []struct {
		name, list, login string
		behind            bool
		want              string
	}{
		{"login=none", "10.0.0.1:7 10.1.0.1:7", "", true, "10.0.0.1:7 10.1.0.1:7"},
		{"login=known", "10.0.0.1:7 10.1.0.1:7", "10.1.0.1 50000 10.1.0.2 22", true, "10.1.0.1:7 10.0.0.1:7"},
		{"login=router", "10.0.0.1:7", "192.0.2.9 50000 10.1.0.2 22", true, "10.0.0.1:7 192.0.2.9:7"},
		{"login=router, not asked for", "10.0.0.1:7", "192.0.2.9 50000 10.1.0.2 22", false, "10.0.0.1:7"},
		{"login=mapped", "10.0.0.1:7 10.1.0.1:7", "::ffff:10.1.0.1 50000", true, "10.1.0.1:7 10.0.0.1:7"},
		{"login=IPv6", "10.0.0.1:7 [fd00::1]:7", "fd00::1 50000", true, "[fd00::1]:7 10.0.0.1:7"},
		{"login=loopback", "10.0.0.1:7", "127.0.0.1 50000", true, "10.0.0.1:7"},
		{"login=nonsense", "10.0.0.1:7", "x", true, "10.0.0.1:7"},
		{"list=none", "", "10.0.0.1 5", true, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := strings.Join(candidates(strings.Fields(tt.list), tt.login, tt.behind), " "); got != tt.want {
				t.Errorf("candidates are %q, want %q", got, tt.want)
			}
		})
	}
}

// TestFirstReachable verifies that the first address that answers wins, in the order of the
// list, within the time of one attempt.
func TestFirstReachable(t *testing.T) {
	refused := errors.New("connection refused")
	tests := []struct {
		name string
		dial map[string]error // result without delay; other addresses end after reachTimeout
		want string
	}{
		{"first=good", map[string]error{"a": nil, "b": nil}, "a"},
		{"first=refused", map[string]error{"a": refused, "b": nil}, "b"},
		{"first=silent", map[string]error{"b": nil}, "b"},
		{"all=bad", map[string]error{"a": refused}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				got, err := firstReachable(t.Context(), []string{"a", "b"}, func(_ context.Context, addr string) error {
					if err, ok := tt.dial[addr]; ok {
						return err
					}
					time.Sleep(reachTimeout)
					return errors.New("timeout")
				})
				if got != tt.want || (err == nil) != (tt.want != "") || err != nil && exitcode.Of(err) != exitcode.Retry {
					t.Errorf("reached %q, error %v, want %q", got, err, tt.want)
				}
				if took := time.Since(start); took > reachTimeout {
					t.Errorf("took %v, want %v at most", took, reachTimeout)
				}
			})
		})
	}
}

// TestInterfaces verifies that Interfaces excludes the loopback and respects --interface.
func TestInterfaces(t *testing.T) {
	for _, only := range []string{"no-such-interface", "198.51.100.0/24", "10.0.0.0/99", "lo", "127.0.0.0/8"} {
		if got, err := Interfaces(only); exitcode.Of(err) != exitcode.Usage || !strings.Contains(err.Error(), only) {
			t.Errorf("interface=%s: %q, error %v, want code 64 with the name", only, got, err)
		}
	}
	all, err := Interfaces("")
	if err != nil {
		t.Skip(err)
	}
	for _, addr := range all {
		if ip := net.ParseIP(addr); ip.IsLoopback() || ip.IsLinkLocalUnicast() {
			t.Errorf("%s is told to other hosts", addr)
		}
		suffix := "/32"
		if strings.Contains(addr, ":") {
			suffix = "/128"
		}
		if got, err := Interfaces(addr + suffix); err != nil || len(got) != 1 || got[0] != addr {
			t.Errorf("interface=%s%s: %q, error %v", addr, suffix, got, err)
		}
	}
}

// TestLocalRendezvous verifies that ranks beside the rendezvous never tell others the
// loopback.
func TestLocalRendezvous(t *testing.T) {
	reach := []string{"10.0.0.1:7", "10.1.0.1:7"}
	for _, tt := range []struct {
		reach       []string
		other, want string
	}{
		{reach, "10.1.0.1:7", "10.1.0.1:7"},
		{reach, "192.0.2.9:7", "10.0.0.1:7"}, // behind a router
		{nil, "", "127.0.0.1:7"},
	} {
		if got := localRendezvous(tt.reach, tt.other, "127.0.0.1:7"); got != tt.want {
			t.Errorf("reach=%v/other=%s: address is %s, want %s", tt.reach, tt.other, got, tt.want)
		}
	}
}
