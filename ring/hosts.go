package ring

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
	sub.Order = newOrder(m.hostOrder(hosts), "")
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
	var order []int
	seen := make([]bool, len(hosts))
	for at := range m.Size() {
		if h := host[m.workerAt(at)]; !seen[h] {
			seen[h], order = true, append(order, h)
		}
	}
	return order
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

// lineElements is a cache line of float32.
const lineElements = 16

// shardSpan cuts length elements into count shards of whole cache lines, counted
// from the first element, that differ by one line at most, the longer ones
// first, and returns shard i. The last shard that is not empty takes the rest.
func shardSpan(length, count, i int) span {
	lines := chunkSpan((length+lineElements-1)/lineElements, count, i)
	return span{min(lines.lo*lineElements, length), min(lines.hi*lineElements, length)}
}
