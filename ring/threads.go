package ring

import "runtime"

// LeastThreads is how many threads a worker's Go code needs, whatever its cores: for the caller's own work, for who
// receives and for who sends. A wait in a link or in shared memory is a system call, which keeps its thread until
// the runtime looks, ten milliseconds later at worst: with fewer threads the work beside it stands still for as long
// (see BenchmarkThreads in package tcplink).
const LeastThreads = 3

// needThreads raises GOMAXPROCS to LeastThreads, for good.
func needThreads() {
	if runtime.GOMAXPROCS(0) < LeastThreads {
		runtime.GOMAXPROCS(LeastThreads)
	}
}
