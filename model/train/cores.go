package train

import (
	"runtime"

	"ringtrain/ring"
)

// leastThreads is what even one core is shared by: backward, who receives and who
// sends. On fewer one of them waits for another to pause, up to the ten
// milliseconds after which the runtime looks: the exchange stands still while
// backward computes, and what is hidden of it is added behind.
const leastThreads = 3

// ShareCores limits the threads that this process computes and communicates on
// to its share of the host's cores, for good, and returns the share, which is 1
// at least. More threads than that only take the cores from the host's other
// ranks. What the user has fixed by GOMAXPROCS stays, if
// it is leastThreads or more. A process calls it once it
// knows who else is on the host; together is what ring.Group.Cores says.
func ShareCores(m ring.Membership, together int, fixed bool) int {
	_, local := m.Local()
	each, threads := ring.CoresEach(local, together), runtime.GOMAXPROCS(0)
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
