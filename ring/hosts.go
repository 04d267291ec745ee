package ring

import "ringtrain/ring/order"

// Hosts returns the number of hosts.
func (m Membership) Hosts() int {
	ids := map[string]bool{}
	for _, w := range m.Workers {
		ids[w.HostID] = true
	}
	return len(ids)
}

// Local returns this worker's number among the workers of its host, in order of rank, and the
// number of these workers.
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

// HostRanks returns the ranks of each host in ascending order, the hosts in order of their lowest
// ranks.
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

// Across returns the workers with which this worker exchanges data between hosts, if it is a
// driver: those with its own local rank on each host, itself included, in order of the hosts'
// lowest ranks. Rank and Order of the result count these workers. The Order visits the hosts as
// the ring of m does. Worker.Rank remains the rank in the job.
//
// Each host has as many drivers as the smallest host has workers. A job on one host has none.
func (m Membership) Across() (sub Membership, driver bool) {
	hosts := m.HostRanks()
	local, _ := m.Local()
	if len(hosts) < 2 || local >= fewest(hosts) {
		return Membership{}, false
	}
	sub = Membership{JobID: m.JobID, Life: m.Life, Generation: m.Generation, Issuer: m.Issuer}
	for h, ranks := range hosts {
		if ranks[local] == m.Rank {
			sub.Rank = h
		}
		sub.Workers = append(sub.Workers, m.Workers[ranks[local]])
	}
	sub.Order = order.New(m.hostOrder(hosts))
	return sub, true
}

// hostOrder returns the numbers of the hosts in the order in which the ring of m first visits them.
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

// fewest returns the number of workers of the smallest host.
func fewest(hosts [][]int) int {
	n := len(hosts[0])
	for _, ranks := range hosts[1:] {
		n = min(n, len(ranks))
	}
	return n
}

// largest returns the number of workers of the largest host.
func largest(hosts [][]int) int {
	n := 0
	for _, ranks := range hosts {
		n = max(n, len(ranks))
	}
	return n
}
