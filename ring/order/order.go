// Package order finds the order in which a ring passes through the workers of a job.
//
// A ring in order of rank may leave a host several times, and may cross between two
// hosts with a slow path. An [Order] avoids both:
//
//	ranks 0 … 3 on hosts a b a b      by rank   0a ═ 1b ═ 2a ═ 3b ═ 0a    four hops between hosts
//	                                  by host   0a ─ 2a ═ 1b ─ 3b ═ 0a    two
//
// A [Rule] says how the order is found: by rank, by host, or from a list. [Fastest] takes the
// bandwidth between hosts and returns the order whose slowest hop is as fast as possible.
//
// # Errors
//
// A rule or list that the user gave and that cannot be is an error with [exitcode.Usage].
package order

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Order is the sequence of workers around a ring. The zero Order is that of ranks. All workers of a job must have the same Order.
//
// The position of a worker is its index in this sequence, from 0. Links count
// positions: the neighbour of a worker, the owner of a chunk, the partner of a round.
// Users and callers see ranks.
type Order struct {
	Workers []int // by position: indices of Membership.Workers; nil: the worker at position r is r
}

// New returns the order of workers. Workers of the result is nil if the order is that of
// their numbers.
func New(workers []int) Order {
	if isIdentity(workers) {
		workers = nil
	}
	return Order{Workers: workers}
}

// At returns the worker at a position.
func (o Order) At(position int) int {
	if o.Workers == nil {
		return position
	}
	return o.Workers[position]
}

// Position returns the position of a worker.
func (o Order) Position(worker int) int {
	if o.Workers == nil {
		return worker
	}
	return slices.Index(o.Workers, worker)
}

// isIdentity reports whether workers are 0, 1, 2, ….
func isIdentity(workers []int) bool {
	for i, w := range workers {
		if w != i {
			return false
		}
	}
	return true
}

// Check returns an error unless ranks has each of 0 to size-1 once.
func Check(ranks []int, size int) error {
	seen := make([]bool, size)
	for _, r := range ranks {
		switch {
		case r < 0 || r >= size:
			return fmt.Errorf("rank %d is in it, want each of 0 to %d once", r, size-1)
		case seen[r]:
			return fmt.Errorf("rank %d is in it twice, want each of 0 to %d once", r, size-1)
		}
		seen[r] = true
	}
	if i := slices.Index(seen, false); i >= 0 {
		return fmt.Errorf("rank %d is not in it, want each of 0 to %d once", i, size-1)
	}
	return nil
}

// Format returns the text of a list of ranks, such as "0,2,1,3".
func Format(ranks []int) string {
	words := make([]string, len(ranks))
	for i, r := range ranks {
		words[i] = strconv.Itoa(r)
	}
	return strings.Join(words, ",")
}

// ParseRanks reads the text that Format writes. The list must have each rank from 0 on
// once.
func ParseRanks(text string) ([]int, error) {
	var ranks []int
	for _, word := range strings.Split(text, ",") {
		r, err := strconv.ParseUint(strings.TrimSpace(word), 10, 31)
		if err != nil {
			return nil, errNoRanks
		}
		ranks = append(ranks, int(r))
	}
	return ranks, Check(ranks, len(ranks))
}

var errNoRanks = errors.New("no list of ranks")

// fastEnough is the bandwidth, in bytes per second, above which hops count as equal. A
// MiB then takes 2 ms, and the time that processes wait for a core differs by as much.
const fastEnough = 500e6

// Fastest returns the order of ranks in which the ring visits each host once and its slowest hop
// between hosts is as fast as possible, and the reason. hosts lists the ranks of each host;
// bandwidth[i][j] is the bandwidth from host i to host j in bytes per second. Bandwidth
// above 500 MB/s counts as 500 MB/s. An order that is faster by less than a fifth does
// not replace the given order of hosts: see fastestRing.
func Fastest(hosts [][]int, bandwidth [][]float64) (ranks []int, why string) {
	capped := make([][]float64, len(hosts))
	for i, row := range bandwidth {
		for _, rate := range row {
			capped[i] = append(capped[i], min(rate, fastEnough))
		}
	}
	tour := fastestRing(capped)
	for _, h := range tour {
		ranks = append(ranks, hosts[h]...)
	}
	slowest := formatRate(slowestHop(capped, tour))
	if isIdentity(tour) {
		return ranks, "no order of the hosts is faster by a fifth; the slowest hop does " + slowest
	}
	given := make([]int, len(hosts))
	for h := range given {
		given[h] = h
	}
	return ranks, fmt.Sprintf("the slowest hop between hosts does %s, by order of host %s", slowest, formatRate(slowestHop(capped, given)))
}

// formatRate returns a rate in MB/s.
func formatRate(bytesPerSecond float64) string {
	text := fmt.Sprintf("%.3g MB/s", bytesPerSecond/1e6)
	if bytesPerSecond >= fastEnough {
		text += " or more"
	}
	return text
}
