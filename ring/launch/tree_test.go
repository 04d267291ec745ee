package launch

import (
	"fmt"
	"slices"
	"testing"
)

// TestBranches verifies that each host is logged in to once, and that no host logs in to
// more than fan-out others.
func TestBranches(t *testing.T) {
	for n := range 70 {
		var hosts []target
		for i := range n {
			hosts = append(hosts, target{i, fmt.Sprint("h", i), 1 + i})
		}
		for fanout := range 40 {
			parts := branches(hosts, fanout)
			if want := min(n, fanout); fanout > 0 && len(parts) != want || fanout == 0 && len(parts) != n {
				t.Fatalf("n=%d fanout=%d: %d branches", n, fanout, len(parts))
			}
			var all branch
			least, most := n, 0
			for _, b := range parts {
				all = append(all, b...)
				least, most = min(least, len(b)), max(most, len(b))
			}
			if !slices.Equal(all, hosts) || n > 0 && (least == 0 || most > least+1) {
				t.Fatalf("n=%d fanout=%d: branches %v", n, fanout, parts)
			}
		}
	}
}

// TestCandidatesBelow verifies that an inner host does not take the address of its parent
// for that of the launcher.
func TestCandidatesBelow(t *testing.T) {
	const login = "10.0.0.9 50000 10.0.0.2 22"
	o := orders{Rendezvous: []string{"10.0.0.1:7", "10.1.0.1:7"}, Direct: true, Behind: true, Host: 4}
	first := o.candidates(login)
	if want := []string{"10.0.0.1:7", "10.1.0.1:7", "10.0.0.9:7"}; !slices.Equal(first, want) {
		t.Errorf("tried are %q, want %q", first, want)
	}
	second := o.below(first).to(branch{{5, "b", 1}, {6, "c", 1}})
	if got := second.candidates("10.0.0.2 50000 10.0.0.3 22"); !slices.Equal(got, first) {
		t.Errorf("tried below are %q, want %q: its login does not come from the launcher", got, first)
	}
	if second.Host != 5 || !slices.Equal(second.Below, branch{{6, "c", 1}}) {
		t.Errorf("orders are of host %d with %v below, want 5 with 6", second.Host, second.Below)
	}
}
