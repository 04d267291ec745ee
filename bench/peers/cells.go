package peers

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"ringtrain/ring/exitcode"
)

// A cell is the work of one contender for one size and world size.
type cell struct {
	who          string
	ranks, bytes int
}

// result has the measurements of a cell: for each variant the times of the rounds in
// seconds, and the bytes between hosts. A cell that failed has none, whatever was measured
// before.
type result struct {
	times   map[string][]float64
	between float64
	failed  bool
}

// figures has the results of all cells.
type figures struct {
	cells    map[cell]result
	failures []Failure // the reasons of failed cells, in order
}

func newFigures() *figures { return &figures{cells: map[cell]result{}} }

// fail marks the cells of these sizes as failed.
func (f *figures) fail(why Failure, sizes []int) {
	f.failures = append(f.failures, why)
	for _, n := range sizes {
		f.cells[cell{why.Who, why.Ranks, n}] = result{failed: true}
	}
}

// failure returns nil, or exitcode.Failed with all failures of ringtrain.
func (f *figures) failure() error {
	var errs []error
	for _, x := range f.failures {
		errs = append(errs, fmt.Errorf("bench peers: %s with %d ranks has failed: %s", x.Who, x.Ranks, x.Cause))
	}
	return exitcode.With(exitcode.Failed, errors.Join(errs...))
}

func (f *figures) add(who string, ranks int, s Sample) {
	at := cell{who, ranks, s.Bytes}
	r := f.cells[at]
	if r.times == nil {
		r.times = map[string][]float64{}
	}
	r.times[s.Way] = append(r.times[s.Way], s.Time)
	r.between = float64(s.Between)
	f.cells[at] = r
}

// time returns the median time of the best variant.
func (f *figures) time(who string, ranks, bytes int) (seconds float64, ok bool) {
	for _, rounds := range f.cells[cell{who, ranks, bytes}].times {
		if m := median(rounds); !ok || m < seconds {
			seconds, ok = m, true
		}
	}
	return seconds, ok
}

// bytesBetween returns the number of bytes that leave their host in one sum.
func (f *figures) bytesBetween(who string, ranks, bytes int) (n float64, ok bool) {
	n = f.cells[cell{who, ranks, bytes}].between
	return n, n > 0
}

// median returns the median, for an even number of times the mean of the two middle
// ones.
func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// ranks returns the world sizes with figures or failures, in ascending order; sizes
// returns the buffer sizes.
func (f *figures) ranks() []int { return f.numbers(func(c cell) int { return c.ranks }) }
func (f *figures) sizes() []int { return f.numbers(func(c cell) int { return c.bytes }) }

func (f *figures) numbers(of func(cell) int) []int {
	seen := map[int]bool{}
	for c := range f.cells {
		seen[of(c)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}
