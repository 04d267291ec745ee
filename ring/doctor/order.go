package doctor

import (
	"fmt"

	"ringtrain/ring/order"
)

// leastHosts is the number of hosts from which on orders differ. Three hosts have one ring in two
// directions, and bandwidth may differ by direction.
const leastHosts = 3

// BestOrder returns a line with the order of the ring whose slowest hop between hosts is fastest, in the
// form of allreduce.order. It returns "" if there is one order only, or if a pair was not measured.
func (r *Report) BestOrder() string {
	var hosts [][]int // ranks of each host
	at := map[string]int{}
	for _, h := range r.Hosts {
		i, ok := at[h.HostID]
		if !ok {
			i = len(hosts)
			at[h.HostID], hosts = i, append(hosts, nil)
		}
		hosts[i] = append(hosts[i], h.Rank)
	}
	if len(hosts) < leastHosts {
		return ""
	}
	bandwidth := make([][]float64, len(hosts))
	for i, from := range hosts {
		bandwidth[i] = make([]float64, len(hosts))
		for j, to := range hosts {
			if i == j {
				continue
			}
			if bandwidth[i][j] = r.pair(from[0], to[0]).Bandwidth; bandwidth[i][j] <= 0 {
				return ""
			}
		}
	}
	ranks, why := order.Fastest(hosts, bandwidth)
	return fmt.Sprintf("best order of the ring of these ranks: --set allreduce.order=%s (%s)", order.Format(ranks), why)
}
