package train

import (
	"runtime"

	"ringtrain/ring"
	"ringtrain/ring/cores"
)

// ShareCores limits the threads that this process computes and communicates on
// to its share of the host's cores, for good, and returns the share, which is 1
// at least. More threads than that only take the cores from the host's other
// ranks. fixed is the number that the user has set by GOMAXPROCS, 0 for none: it stays, if
// it is ring.LeastThreads or more. A process calls it once it
// knows who else is on the host; together is what ring.Group.Cores says.
func ShareCores(m ring.Membership, together, fixed int) int {
	_, local := m.Local()
	share := max(cores.Each(local, together), 1)
	threads := share
	if fixed > 0 {
		share, threads = min(share, fixed), fixed
	}
	runtime.GOMAXPROCS(max(threads, ring.LeastThreads))
	return share
}
