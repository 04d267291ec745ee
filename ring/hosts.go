package ring

import (
	"strings"

	"ringtrain/ring/order"
)

// Hosts returns the number of hosts.
func (m Membership) Hosts() int {
	ids := map[string]bool{}
	for _, w := range m.Workers {
		ids[w.HostID] = true
	}
	return len(ids)
}

// Local returns this worker's number among the workers of its host, in order
// of rank, and how many those are.
func (m Membership) Local() (rank, size int) {
	for i, w := range m.Workers {
		if w.HostID != m.Self().HostID {
			continue
		}
		if i < m.Rank {
			rank++
		}
		size++
	}
	return rank, size
}

// A Spread says how workers are spread over hosts and machines. Containers and
// pods are hosts of their own, and share the cores of their machine.
type Spread struct {
	Workers    int
	PerHost    int // the most that a host has
	PerMachine int // the most that a machine has
}

// Spread returns how m's workers are spread.
func (m Membership) Spread() Spread {
	s := Spread{Workers: m.Size()}
	host, machine := map[string]int{}, map[string]int{}
	for _, w := range m.Workers {
		boot, _, _ := strings.Cut(w.HostID, "/")
		host[w.HostID]++
		machine[boot]++
		s.PerHost, s.PerMachine = max(s.PerHost, host[w.HostID]), max(s.PerMachine, machine[boot])
	}
	return s
}

// HostRanks returns the ranks of each host in order, the hosts in order of their
// lowest rank.
func (m Membership) HostRanks() [][]int {
	var hosts [][]int
	at := map[string]int{}
	for rank, w := range m.Workers {
		h, ok := at[w.HostID]
		if !ok {
			h = len(hosts)
			at[w.HostID] = h
			hosts = append(hosts, nil)
		}
		hosts[h] = append(hosts[h], rank)
	}
	return hosts
}

// Across returns the workers that this one does the part between hosts with, if
// it is a driver: the workers of its own local rank on each host, in order of
// the hosts' lowest ranks, and itself among them. Its Rank counts these, and so
// does its Order, which goes through the hosts as m's comes upon them; each Worker
// keeps the rank that it has in the job.
//
// There are as many drivers on each host as the host with the fewest workers
// has workers. With one host only there are none.
func (m Membership) Across() (sub Membership, driver bool) {
	hosts := m.HostRanks()
	local, _ := m.Local()
	if len(hosts) < 2 || local >= fewest(hosts) {
		return Membership{}, false
	}
	sub = Membership{JobID: m.JobID, Generation: m.Generation}
	for h, ranks := range hosts {
		if ranks[local] == m.Rank {
			sub.Rank = h
		}
		sub.Workers = append(sub.Workers, m.Workers[ranks[local]])
	}
	sub.Order = order.New(m.hostOrder(hosts), "")
	return sub, true
}

// hostOrder returns the numbers of hosts in the order in which m's ring comes upon
// them first.
func (m Membership) hostOrder(hosts [][]int) []int {
	host := make([]int, m.Size()) // by rank
	for h, ranks := range hosts {
		for _, rank := range ranks {
			host[rank] = h
		}
	}
	var visited []int
	seen := make([]bool, len(hosts))
	for at := range m.Size() {
		if h := host[m.Order.At(at)]; !seen[h] {
			seen[h], visited = true, append(visited, h)
		}
	}
	return visited
}

// fewest returns the number of workers of the host with the fewest.
func fewest(hosts [][]int) int {
	n := len(hosts[0])
	for _, ranks := range hosts[1:] {
		n = min(n, len(ranks))
	}
	return n
}

// largest returns the number of workers of the host with the most.
func largest(hosts [][]int) int {
	n := 0
	for _, ranks := range hosts {
		n = max(n, len(ranks))
	}
	return n
}
