package launch

import (
	"fmt"
	"strings"
	"testing"

	"ringtrain/ring/exitcode"
)

// If this failed, ranks would be on other hosts than mpirun would put them, or
// have wrong local numbers, by which they share a host's cores.
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
				hosts, _ = ParseHosts(tt.hosts)
			}
			seats, err := assign(tt.np, hosts, tt.by)
			var got []string
			for rank, s := range seats {
				if s.rank != rank {
					t.Errorf("seat %d is of rank %d", rank, s.rank)
				}
				got = append(got, fmt.Sprintf("%d:%d/%d", s.host, s.local, s.of))
			}
			if g := strings.Join(got, " "); err != nil || g != tt.want {
				t.Errorf("seats are %q, error %v, want %q", g, err, tt.want)
			}
		})
	}
}

// If this failed, more ranks than a cluster has room for would be crowded onto
// it without a word.
func TestAssignTooMany(t *testing.T) {
	hosts, _ := ParseHosts("a:2,[fd00::1]:1")
	_, err := assign(4, hosts, BySlot)
	want := "4 ranks are asked for, there are 3 slots on 2 hosts (a:2, [fd00::1]:1): give more hosts or slots, or a smaller -np"
	if exitcode.Of(err) != exitcode.Usage || err.Error() != want {
		t.Errorf("error %v with code %d, want %q with code 64", err, exitcode.Of(err), want)
	}
	_, err = Run(t.Context(), Config{NP: 4, Program: []string{"true"}, Hosts: hosts})
	if exitcode.Of(err) != exitcode.Usage {
		t.Errorf("error %v of Run, want code 64", err)
	}
}

// If this failed, ranks would share cores while others are idle, or have none.
func TestShareOf(t *testing.T) {
	tests := []struct {
		cores []int
		n     int
		want  string
	}{
		{[]int{0, 1}, 2, "[0] [1]"},
		{[]int{0, 1}, 4, "[0] [0] [1] [1]"},
		{[]int{0, 1}, 3, "[0] [0] [1]"},
		{[]int{2, 3, 6, 7, 8}, 2, "[2 3] [6 7 8]"},
		{[]int{5}, 3, "[5] [5] [5]"},
		{[]int{0, 1, 2, 3}, 1, "[0 1 2 3]"},
	}
	for _, tt := range tests {
		var got []string
		for i := range tt.n {
			got = append(got, fmt.Sprint(shareOf(tt.cores, i, tt.n)))
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("cores=%v/ranks=%d: shares are %s, want %s", tt.cores, tt.n, g, tt.want)
		}
	}
}

// If this failed, people would not see who runs where, or a wrong share.
func TestBindingLine(t *testing.T) {
	together := []seat{{rank: 4, local: 0, of: 2}, {rank: 5, local: 1, of: 2}}
	later := []seat{{rank: 4, local: 0, of: 1}, {rank: 5, local: 1, of: 2}} // rank 5 came from a lost host
	fewer := []seat{{rank: 4, local: 0, of: 4}, {rank: 5, local: 3, of: 4}} // two are not there any more
	tests := []struct {
		seats []seat
		cores []int
		want  string
	}{
		{together, []int{0}, "2 ranks on b, 0.5 cores each: rank 4 on core 0, rank 5 on core 0"},
		{together, []int{0, 1, 2, 3}, "2 ranks on b, 2 cores each: rank 4 on cores 0-1, rank 5 on cores 2-3"},
		{together, []int{0, 2, 4, 7}, "2 ranks on b, 2 cores each: rank 4 on cores 0,2, rank 5 on cores 4,7"},
		{later, []int{0, 1, 2, 3}, "2 ranks on b: rank 4 on cores 0-3, rank 5 on cores 2-3"},
		{fewer, []int{0, 1, 2, 3}, "2 ranks on b, 1 cores each: rank 4 on core 0, rank 5 on core 3"},
		{together, nil, "2 ranks on b: cores are not known there, ranks are not bound"},
	}
	for _, tt := range tests {
		if got := bindingLine("b", tt.seats, tt.cores); got != tt.want {
			t.Errorf("cores=%v: line is %q, want %q", tt.cores, got, tt.want)
		}
	}
}
