package ringtest_test

import (
	"fmt"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/ringtest"
)

// TestRunOnHosts verifies that workers of one host share memory and those of several have a
// level between hosts.
func TestRunOnHosts(t *testing.T) {
	for want, hosts := range map[string][]int{"host": {0, 0, 0}, "two": {0, 1, 1, 0}} {
		ringtest.RunOnHosts(t, hosts, ring.DefaultConfig(), func(g *ring.Group) error {
			m := g.Membership()
			for r, w := range m.Workers {
				if other := fmt.Sprintf("host%d", hosts[r]); w.HostID != other || w.Host != other {
					return fmt.Errorf("rank %d is on %s, want %s", r, w.HostID, other)
				}
			}
			if g.Levels() != want {
				return fmt.Errorf("hosts=%v: levels are %q, want %q", hosts, g.Levels(), want)
			}
			return g.Barrier(t.Context())
		})
	}
}
