package hosts

import (
	"fmt"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// TestAssign verifies the host, the local rank and the local size of each rank, as with
// mpirun.
func TestAssign(t *testing.T) {
	tests := []struct {
		np    int
		hosts string
		by    Mapping
		want  string // host:local/of of each rank
	}{
		{3, "", BySlot, "0:0/3 0:1/3 0:2/3"},
		{4, "a:2,b:2", BySlot, "0:0/2 0:1/2 1:0/2 1:1/2"},
		{3, "a:2,b:2", BySlot, "0:0/2 0:1/2 1:0/1"},
		{1, "a:2,b:2", BySlot, "0:0/1"},
		{4, "a:2,b:2", ByNode, "0:0/2 1:0/2 0:1/2 1:1/2"},
		{5, "a:1,b:3,c:1", ByNode, "0:0/1 1:0/3 2:0/1 1:1/3 1:2/3"},
		{0, "a:1", BySlot, ""},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("np=%d/hosts=%s/by=%d", tt.np, tt.hosts, tt.by), func(t *testing.T) {
			var hosts []Host
			if tt.hosts != "" {
				hosts, _ = Parse(tt.hosts)
			}
			list, err := Assign(tt.np, hosts, tt.by)
			var got []string
			for rank, s := range list {
				if s.Rank != rank {
					t.Errorf("assignment %d is of rank %d", rank, s.Rank)
				}
				got = append(got, fmt.Sprintf("%d:%d/%d", s.Host, s.LocalRank, s.LocalSize))
			}
			if g := strings.Join(got, " "); err != nil || g != tt.want {
				t.Errorf("assignments are %q, error %v, want %q", g, err, tt.want)
			}
		})
	}
}

// TestAssignTooMany verifies that more ranks than slots are an error that lists the hosts.
func TestAssignTooMany(t *testing.T) {
	hosts, _ := Parse("a:2,[fd00::1]:1")
	_, err := Assign(4, hosts, BySlot)
	want := "4 ranks are asked for, more than 3 slots on 2 hosts (a:2, [fd00::1]:1): give more hosts or slots, or a smaller -np"
	if exitcode.Of(err) != exitcode.Usage || err.Error() != want {
		t.Errorf("error %v with code %d, want %q with code 64", err, exitcode.Of(err), want)
	}
}
