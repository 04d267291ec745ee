package ring

import (
	"math"
	"slices"
)

// worthwhile is by how much the slowest hop of a ring must be faster than
// another's to count: what is measured over a network varies by less.
const worthwhile = 1.2

// exactHosts bounds the hosts of which all rings are weighed: 2ⁿ·n² steps.
const exactHosts = 12

// FastestRing returns a way around all hosts, from host 0 on, whose slowest hop
// is within a fifth of the best that there is; among those the one that comes
// first in the order of numbers. So hosts stay in order where no other way is
// faster by a fifth, and a measurement that varies by less changes nothing.
// bandwidth[i][j] is that from i to j.
//
// For more than 12 hosts the way is a good one, found step by step, and need not
// be the best. The result is a function of bandwidth only, and of comparisons of
// its numbers: it is the same on every machine.
func FastestRing(bandwidth [][]float64) []int {
	if len(bandwidth) <= exactHosts {
		return weighAll(bandwidth)
	}
	return search(bandwidth)
}

// slowestHop returns the bandwidth of the slowest hop of a way around.
func slowestHop(bandwidth [][]float64, way []int) float64 {
	slowest := math.Inf(1)
	for i, h := range way {
		if next := way[(i+1)%len(way)]; next != h {
			slowest = min(slowest, bandwidth[h][next])
		}
	}
	return slowest
}

// weighAll is FastestRing for few hosts. A set of hosts is a number with a bit for
// each.
//
// home[set][h] is the slowest hop of the best path from h through all of set and
// back to host 0 (as Held and Karp do it for the travelling salesman, 1962).
func weighAll(bandwidth [][]float64) []int {
	n := len(bandwidth)
	home := make([][]float64, 1<<n)
	for set := 0; set < 1<<n; set += 2 { // host 0 is in none
		home[set] = make([]float64, n)
		for h := range n {
			if set>>h&1 == 1 {
				continue
			}
			best := 0.0
			if set == 0 {
				best = bandwidth[h][0]
			}
			for next := range n {
				if set>>next&1 == 1 {
					best = max(best, min(bandwidth[h][next], home[set&^(1<<next)][next]))
				}
			}
			home[set][h] = best
		}
	}
	rest := 1<<n - 2
	enough := home[rest][0] / worthwhile
	way := []int{0}
	for at := 0; rest != 0; {
		next := 1
		for rest>>next&1 == 0 || min(bandwidth[at][next], home[rest&^(1<<next)][next]) < enough {
			next++
		}
		way, rest, at = append(way, next), rest&^(1<<next), next
	}
	return way
}

// search is FastestRing for many hosts: from the way by order, and from the one
// that always takes the fastest next hop, it changes pairs of hops as long as
// that helps the slowest one (Croes, "A method for solving traveling-salesman
// problems", 1958).
func search(bandwidth [][]float64) []int {
	ordered := make([]int, len(bandwidth))
	for h := range ordered {
		ordered[h] = h
	}
	best := improved(bandwidth, ordered)
	if other := improved(bandwidth, greedy(bandwidth)); slowestHop(bandwidth, other) > slowestHop(bandwidth, best) {
		best = other
	}
	if slowestHop(bandwidth, ordered) >= slowestHop(bandwidth, best)/worthwhile {
		return ordered
	}
	return startingAt(best, slices.Index(best, 0))
}

// greedy goes from host 0 to the host that is the fastest to reach, and so on.
func greedy(bandwidth [][]float64) []int {
	way := []int{0}
	left := make([]int, 0, len(bandwidth))
	for h := 1; h < len(bandwidth); h++ {
		left = append(left, h)
	}
	for at := 0; len(left) > 0; {
		fastest := 0
		for i, h := range left {
			if bandwidth[at][h] > bandwidth[at][left[fastest]] {
				fastest = i
			}
		}
		at = left[fastest]
		way, left = append(way, at), slices.Delete(left, fastest, fastest+1)
	}
	return way
}

// improved returns way after all changes that make its slowest hop faster. Each
// takes that hop, and reverses what follows it up to some host, or moves the host
// behind it.
func improved(bandwidth [][]float64, way []int) []int {
	for n := len(way); ; {
		way = startingAt(way, behindSlowest(bandwidth, way)) // now the slowest hop is from the last to the first
		better := func(other []int) bool { return slowestHop(bandwidth, other) > slowestHop(bandwidth, way) }
		changed := false
		for last := 1; last < n && !changed; last++ {
			turned := slices.Clone(way)
			slices.Reverse(turned[:last+1])
			moved := slices.Concat(way[1:last+1], way[:1], way[last+1:])
			for _, other := range [][]int{turned, moved} {
				if better(other) {
					way, changed = other, true
					break
				}
			}
		}
		if !changed {
			return way
		}
	}
}

// behindSlowest returns the position of the host that the slowest hop leads to.
func behindSlowest(bandwidth [][]float64, way []int) int {
	n, to := len(way), 0
	for i := range way {
		if bandwidth[way[(i+n-1)%n]][way[i]] < bandwidth[way[(to+n-1)%n]][way[to]] {
			to = i
		}
	}
	return to
}

// startingAt returns the same way around from position i on.
func startingAt(way []int, i int) []int { return slices.Concat(way[i:], way[:i]) }
