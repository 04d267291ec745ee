package ring

import "testing"

// TestPhaseAfterWireBetweenHosts verifies that a driver whose collective between hosts is over
// is still in the operation of the group.
func TestPhaseAfterWireBetweenHosts(t *testing.T) {
	g := &Group{wire: &wire{}, host: &host{across: &wire{}}}
	g.op.kind = opAllReduce
	if got, _ := g.phase(right|betweenHosts, 3); got != "all-reduce" {
		t.Errorf("phase is %q, want %q", got, "all-reduce")
	}
}
