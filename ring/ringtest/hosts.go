package ringtest

import (
	"fmt"
	"testing"

	"ringtrain/ring"
	"ringtrain/ring/link/memlink"
)

// OnHosts returns the membership of a rank among workers on several hosts: hosts[r] is the host
// of rank r.
func OnHosts(hosts []int, rank int) ring.Membership {
	m := Membership(len(hosts), rank)
	for r, h := range hosts {
		m.Workers[r].Host, m.Workers[r].HostID = fmt.Sprintf("host%d", h), fmt.Sprintf("host%d", h)
	}
	return m
}

// HostTransports returns the transports of workers on several hosts, on two levels, in memory.
// With one host they have Memory only.
func HostTransports(hosts []int) []ring.Transport {
	ranks := OnHosts(hosts, 0).HostRanks()
	over := make([]ring.Transport, len(hosts))
	if len(ranks) > 1 {
		over = memlink.Mesh(len(hosts))
	}
	for _, local := range ranks {
		if len(local) == 1 && len(ranks) > 1 {
			continue // alone on its host
		}
		for i, m := range memlink.Memory(len(local)) {
			over[local[i]].Memory = m
		}
	}
	across := map[int][]ring.Transport{} // by the driver on the first host
	for rank := range hosts {
		sub, driver := OnHosts(hosts, rank).Across()
		if !driver {
			continue
		}
		first := sub.Workers[0].Rank
		if across[first] == nil {
			across[first] = memlink.Mesh(sub.Size())
		}
		over[rank].Across = &across[first][sub.Rank]
	}
	return over
}

// RunOnHosts is Run for workers on several hosts, on two levels.
func RunOnHosts(t testing.TB, hosts []int, cfg ring.Config, fn func(g *ring.Group) error) {
	t.Helper()
	RunOnHostsOver(t, hosts, HostTransports(hosts), cfg, fn)
}

// RunOnHostsOver is RunOnHosts over the given transports, by rank. The groups close
// them.
func RunOnHostsOver(t testing.TB, hosts []int, over []ring.Transport, cfg ring.Config, fn func(g *ring.Group) error) {
	t.Helper()
	run(t, over, func(rank int) ring.Membership { return OnHosts(hosts, rank) }, cfg, fn)
}
