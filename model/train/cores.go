package train

import (
	"runtime"

	"ringtrain/ring"
	"ringtrain/ring/link/shmlink"
)

// leastThreads is what even one core is shared by: on a single thread the
// exchange would wait for backward to pause, and none of it would be hidden; and
// who sends would wait for who receives, for 1.3 to 1.7 times as long.
const leastThreads = 2

// ShareCores limits the threads that this process computes and communicates on
// to its share of the host's cores, for good, and returns the share, which is 1
// at least. More threads than that only take the cores from the host's other
// ranks. What the user has fixed by GOMAXPROCS stays, if
// it is leastThreads or more. A process calls it once it
// knows who else is on the host; together is what ring.Group.Cores says.
func ShareCores(m ring.Membership, together int, fixed bool) int {
	_, local := m.Local()
	each, threads := shmlink.CoresEach(local, together), runtime.GOMAXPROCS(0)
	share := max(min(each, threads), 1)
	if !fixed {
		share = shareOf(each, local, runtime.NumCPU(), threads)
		threads = share
	}
	runtime.GOMAXPROCS(max(threads, leastThreads))
	return share
}

// shareOf returns the share of one of local ranks that may use some cores each.
// Fewer threads than cores to begin with are the quota of a container, which its
// ranks have together.
func shareOf(each, local, cores, threads int) int {
	if threads < cores {
		each = min(each, threads/max(local, 1))
	}
	return max(each, 1)
}
