package train

import (
	"runtime"

	"ringtrain/ring"
)

// Cores is how many of a host's cpus each of the localSize ranks there may use,
// for computing and communication together: an equal share, and 1 at least.
// More threads than that only take the cores from each other.
func Cores(localSize, cpus int) int {
	return max(cpus/max(localSize, 1), 1)
}

// leastThreads is what even one core is shared by: on a single thread the
// exchange would wait for backward to pause, and none of it would be hidden.
const leastThreads = 2

// ShareCores limits the threads that this process computes and communicates on
// to its share of the host's cores, for good, and returns the share. What the
// user has fixed by GOMAXPROCS stays. A process calls it once it knows who else
// is on the host.
func ShareCores(m ring.Membership, fixed bool) int {
	_, local := m.Local()
	if fixed {
		return min(Cores(local, runtime.NumCPU()), runtime.GOMAXPROCS(0))
	}
	share := Cores(local, runtime.GOMAXPROCS(0)) // which knows the limit of a container, too
	runtime.GOMAXPROCS(max(share, leastThreads))
	return share
}
