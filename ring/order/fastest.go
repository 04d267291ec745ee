package order

import (
	"math"
	"slices"
)

// worthwhile is the factor by which the slowest hop of a ring must be faster than that of
// another ring to count. Measurements over a network vary by less.
const worthwhile = 1.2

// exactHosts bounds the hosts for which exactRing compares all rings: 2ⁿ·n² steps.
const exactHosts = 12

// fastestRing returns a tour of all hosts, from host 0, whose slowest hop is within a
// fifth of the best. Among such tours it returns the first in lexical order. The hosts
// therefore stay in order unless another tour is faster by a fifth, and noise in the
// measurement changes nothing. bandwidth[i][j] is the bandwidth from host i to host j.
//
// For more than exactHosts hosts the tour comes from a local search and may not be the
// best. The result depends only on comparisons of the numbers in bandwidth, so it is the
// same on every machine.
func fastestRing(bandwidth [][]float64) []int {
	if len(bandwidth) <= exactHosts {
		return exactRing(bandwidth)
	}
	return searchRing(bandwidth)
}

// slowestHop returns the bandwidth of the slowest hop of a tour.
func slowestHop(bandwidth [][]float64, tour []int) float64 {
	slowest := math.Inf(1)
	for i, h := range tour {
		if next := tour[(i+1)%len(tour)]; next != h {
			slowest = min(slowest, bandwidth[h][next])
		}
	}
	return slowest
}

// exactRing is fastestRing for few hosts, by dynamic programming over sets of hosts (Held
// and Karp, "A dynamic programming approach to sequencing problems", 1962). A set is a
// number with one bit for each host.
//
// home[set][h] is the slowest hop of the best path from h through all of set to host 0.
func exactRing(bandwidth [][]float64) []int {
	n := len(bandwidth)
	home := make([][]float64, 1<<n)
	for set := 0; set < 1<<n; set += 2 { // no set has host 0
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
	tour := []int{0}
	for at := 0; rest != 0; {
		next := 1
		for rest>>next&1 == 0 || min(bandwidth[at][next], home[rest&^(1<<next)][next]) < enough {
			next++
		}
		tour, rest, at = append(tour, next), rest&^(1<<next), next
	}
	return tour
}

// searchRing is fastestRing for many hosts. It improves two tours, that in order of hosts
// and that of greedyRing, and takes the better one. It keeps the order of hosts if the
// better one is not worthwhile.
func searchRing(bandwidth [][]float64) []int {
	ordered := make([]int, len(bandwidth))
	for h := range ordered {
		ordered[h] = h
	}
	best := improve(bandwidth, ordered)
	if other := improve(bandwidth, greedyRing(bandwidth)); slowestHop(bandwidth, other) > slowestHop(bandwidth, best) {
		best = other
	}
	if slowestHop(bandwidth, ordered) >= slowestHop(bandwidth, best)/worthwhile {
		return ordered
	}
	return rotate(best, slices.Index(best, 0))
}

// greedyRing returns the tour that takes the fastest hop to an unvisited host each time.
func greedyRing(bandwidth [][]float64) []int {
	tour := []int{0}
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
		tour, left = append(tour, at), slices.Delete(left, fastest, fastest+1)
	}
	return tour
}

// improve changes the tour until no change makes its slowest hop faster. A change starts
// at the host behind the slowest hop: it reverses the tour from there to another host, or
// moves that host behind another (Croes, "A method for solving traveling-salesman
// problems", 1958).
func improve(bandwidth [][]float64, tour []int) []int {
	for n := len(tour); ; {
		tour = rotate(tour, behindSlowest(bandwidth, tour)) // the slowest hop is now from the last host to the first
		better := func(other []int) bool { return slowestHop(bandwidth, other) > slowestHop(bandwidth, tour) }
		changed := false
		for last := 1; last < n && !changed; last++ {
			reversed := slices.Clone(tour)
			slices.Reverse(reversed[:last+1])
			moved := slices.Concat(tour[1:last+1], tour[:1], tour[last+1:])
			for _, other := range [][]int{reversed, moved} {
				if better(other) {
					tour, changed = other, true
					break
				}
			}
		}
		if !changed {
			return tour
		}
	}
}

// behindSlowest returns the index in tour of the host that the slowest hop leads to.
func behindSlowest(bandwidth [][]float64, tour []int) int {
	n, to := len(tour), 0
	for i := range tour {
		if bandwidth[tour[(i+n-1)%n]][tour[i]] < bandwidth[tour[(to+n-1)%n]][tour[to]] {
			to = i
		}
	}
	return to
}

// rotate returns the same tour from index i on.
func rotate(tour []int, i int) []int { return slices.Concat(tour[i:], tour[:i]) }
