package launch

// target is a host to log in to.
type target struct {
	Host  int    `json:"host"`  // index in the launcher's list
	Name  string `json:"name"`  // argument of ssh
	Ranks int    `json:"ranks"` // number of ranks that it has room for
}

// branch is the hosts of one login. The login leads to the first host, whose agent leads to
// the others. There is at least one host.
type branch []target

// branches divides hosts evenly among at most fanout logins, 0 for one each. It keeps their
// order: neighbours in a list are often neighbours in a rack. The agent of a branch's first
// host divides the rest of the branch again:
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

// ranks returns how many ranks may run on the hosts.
func (b branch) ranks() int {
	sum := 0
	for _, t := range b {
		sum += t.Ranks
	}
	return sum
}

// hosts returns the indices of the hosts.
func (b branch) hosts() []int {
	list := make([]int, len(b))
	for i, t := range b {
		list[i] = t.Host
	}
	return list
}
