package place

import "strings"

// Elects reports whether the workers elect the one that serves the rendezvous. p.Rendezvous
// then begins with etcd:// or etcds://.
func (p Place) Elects() bool { return isElection(p.Rendezvous) }

// isElection reports whether the rendezvous at this address is elected.
func isElection(at string) bool {
	return strings.HasPrefix(at, "etcd://") || strings.HasPrefix(at, "etcds://")
}

// isLocalElection reports whether all endpoints of an election are on this host, and so all
// workers.
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
