package launch

// target is a host that somebody has to log in to.
type target struct {
	Host  int    `json:"host"`  // index in the launcher's list
	Name  string `json:"name"`  // as ssh gets it
	Ranks int    `json:"ranks"` // that it has room for
}

// branch is the hosts that one login leads to: it goes to the first, whose agent
// leads on to the others. There is at least one.
type branch []target

// branches divides hosts evenly among at most fanout logins, 0 for one each, in
// their order: neighbours in a list are often neighbours in a rack. Each branch
// is divided again by the agent of its first host, without that host:
//
//	launcher ─┬─ h0 ─┬─ h1            fan-out 2, seven hosts
//	          │      └─ h2
//	          └─ h3 ─┬─ h4
//	                 └─ h5 ─── h6
func branches(hosts []target, fanout int) []branch {
	n, k := len(hosts), min(fanout, len(hosts))
	if fanout == 0 {
		k = n
	}
	parts := make([]branch, k)
	for i := range parts {
		parts[i] = hosts[i*n/k : (i+1)*n/k : (i+1)*n/k]
	}
	return parts
}

// ranks is how many may run on the hosts.
func (b branch) ranks() int {
	sum := 0
	for _, t := range b {
		sum += t.Ranks
	}
	return sum
}

// hosts are the indices.
func (b branch) hosts() []int {
	list := make([]int, len(b))
	for i, t := range b {
		list[i] = t.Host
	}
	return list
}
