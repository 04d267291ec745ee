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

// Ladder is the algorithms that Crossovers chooses among, from that for the
// smallest buffers to that for the largest.
func Ladder() []string { return []string{"fold", "doubling", "tree", "halving", "ring"} }

// Crossovers returns the table of algorithms by size that loses least against
// the best algorithm of each size, in the syntax of allreduce.algorithm, such as
// "<=2KiB:fold,<=32KiB:doubling,ring".
//
// What is lost at a size is the logarithm of chosen time by best time; the sum
// over the sizes is made as small as it can be, with the algorithms in the
// order of Ladder, which is that of ranks on one host. Ties go to the later algorithm. Sizes that have no time for
// each algorithm are left out; without any the table is the last one.
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

// losses returns the sizes, in order, and what each algorithm of the ladder
// loses at each.
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

// bestRungs returns, for each size, the rung of the ladder that is chosen. Rungs
// never fall. It goes from the largest size down and keeps, for each rung, the
// least that can be lost from there on if this size has that rung or a higher
// one.
func bestRungs(lost [][]float64) []int {
	rungs := len(Ladder())
	from := make([][]int, len(lost)) // from[i][r]: the best rung of size i that is r or higher
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

// SizeText writes a number of bytes as options take it: 8, 2KiB, 128MiB.
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
