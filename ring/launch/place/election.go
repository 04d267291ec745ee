package place

import "strings"

// Elects tells whether the workers elect the one that serves the rendezvous, by
// means of what p.Rendezvous names: etcd://… or etcds://….
func (p Place) Elects() bool { return isElection(p.Rendezvous) }

func isElection(at string) bool {
	return strings.HasPrefix(at, "etcd://") || strings.HasPrefix(at, "etcds://")
}

// isLocalElection tells whether all endpoints of an election are of this host, and
// so all workers.
func isLocalElection(at string) bool {
	_, rest, _ := strings.Cut(at, "://")
	hosts, _, _ := strings.Cut(rest, "/")
	for e := range strings.SplitSeq(hosts, ",") {
		if !isLoopback(e) {
			return false
		}
	}
	return isElection(at)
}
