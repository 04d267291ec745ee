package bench

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// A Timing is the time of one algorithm at one size, in seconds.
type Timing struct {
	Algorithm string
	Bytes     int
	Time      float64
}

// Ladder returns the algorithms of Crossovers, from that for the smallest buffers to
// that for the largest.
func Ladder() []string { return []string{"fold", "doubling", "tree", "halving", "ring"} }

// Crossovers returns the table of algorithms by size with the least loss, in the syntax
// of allreduce.algorithm, such as "<=2KiB:fold,<=32KiB:doubling,ring".
//
// The loss of a size is the logarithm of the chosen algorithm's time divided by the best
// time. The table minimizes the sum of the losses, with the algorithms in the order of
// Ladder, that of ranks on one host. Ties go to the later algorithm. Crossovers ignores
// sizes without a time for each algorithm. Without any size the table is the last
// algorithm.
func Crossovers(timings []Timing) string {
	sizes, lost := losses(timings)
	rungs := bestRungs(lost)
	var rules []string
	for i, rung := range rungs {
		if rung < len(Ladder())-1 && (i+1 == len(rungs) || rungs[i+1] != rung) {
			rules = append(rules, fmt.Sprintf("<=%s:%s", SizeText(sizes[i]), Ladder()[rung]))
		}
	}
	return strings.Join(append(rules, Ladder()[len(Ladder())-1]), ",")
}

// losses returns the sizes in ascending order, and the loss of each algorithm of Ladder
// at each size.
func losses(timings []Timing) (sizes []int, lost [][]float64) {
	times := map[int]map[string]float64{}
	for _, t := range timings {
		if times[t.Bytes] == nil {
			times[t.Bytes] = map[string]float64{}
		}
		times[t.Bytes][t.Algorithm] = t.Time
	}
	for bytes, of := range times {
		if len(of) == len(Ladder()) {
			sizes = append(sizes, bytes)
		}
	}
	slices.Sort(sizes)
	for _, bytes := range sizes {
		of := times[bytes]
		best := slices.Min(slices.Collect(maps.Values(of)))
		var row []float64
		for _, name := range Ladder() {
			row = append(row, math.Log(of[name]/best))
		}
		lost = append(lost, row)
	}
	return sizes, lost
}

// bestRungs returns the index in Ladder of the algorithm for each size. The indices
// never decrease. Dynamic programming from the largest size down keeps the least loss of
// the remaining sizes for each lowest index.
func bestRungs(lost [][]float64) []int {
	rungs := len(Ladder())
	from := make([][]int, len(lost)) // from[i][r]: the best index of size i that is at least r
	after := make([]float64, rungs)
	for i := len(lost) - 1; i >= 0; i-- {
		from[i] = make([]int, rungs)
		best := math.Inf(1)
		for r := rungs - 1; r >= 0; r-- {
			from[i][r] = r
			if sum := lost[i][r] + after[r]; sum < best {
				best = sum
			} else {
				from[i][r] = from[i][r+1]
			}
			after[r] = best
		}
	}
	chosen, least := make([]int, len(lost)), 0
	for i := range chosen {
		least = from[i][least]
		chosen[i] = least
	}
	return chosen
}

// SizeText formats a number of bytes as options accept it: 8, 2KiB, 128MiB.
func SizeText(bytes int) string {
	for _, u := range []struct {
		name  string
		shift int
	}{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}} {
		if bytes > 0 && bytes%(1<<u.shift) == 0 {
			return fmt.Sprintf("%d%s", bytes>>u.shift, u.name)
		}
	}
	return fmt.Sprint(bytes)
}
