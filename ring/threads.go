package ring

import "runtime"

// LeastThreads is how many threads a worker's Go code needs beside links over sockets, whatever its cores: for the
// caller's own work, for who receives and for who sends. A wait in such a link is a system call, which keeps its thread
// until the runtime looks, ten milliseconds later at worst: with fewer threads the work beside it stands still for as
// long (see BenchmarkThreads in package tcplink).
const LeastThreads = 3

// needThreads raises GOMAXPROCS, for good, to what the links of t ask for. Links in memory ask for nothing: more threads
// than cores slow them down.
func needThreads(t Transport) {
	least := 0
	for _, l := range append([]Link{t.Ring}, t.Rounds...) {
		if l, ok := l.(ThreadLink); ok {
			least = max(least, l.Threads())
		}
	}
	if runtime.GOMAXPROCS(0) < least {
		runtime.GOMAXPROCS(least)
	}
}
