package peers

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"ringtrain/ring/exitcode"
)

// A cell is the work of one size on so many ranks, done by one contender.
type cell struct {
	who          string
	ranks, bytes int
}

// figures are what has been measured: for each cell and each way to do it, the
// times of the rounds in seconds, and the bytes between hosts. A cell that
// ringtrain failed in has none, whatever was measured before.
type figures struct {
	times    map[cell]map[string][]float64
	between  map[cell]float64
	failed   map[cell]bool
	failures []Failure // that made them so, in order
}

func newFigures() *figures {
	return &figures{times: map[cell]map[string][]float64{}, between: map[cell]float64{}, failed: map[cell]bool{}}
}

// fail marks the cells of these sizes.
func (f *figures) fail(why Failure, sizes []int) {
	f.failures = append(f.failures, why)
	for _, n := range sizes {
		at := cell{why.Who, why.Ranks, n}
		f.failed[at] = true
		delete(f.times, at)
		delete(f.between, at)
	}
}

// failure is nil, or exitcode.Failed with all that ringtrain failed in.
func (f *figures) failure() error {
	var errs []error
	for _, x := range f.failures {
		errs = append(errs, fmt.Errorf("bench peers: %s with %d ranks has failed: %s", x.Who, x.Ranks, x.Cause))
	}
	return exitcode.With(exitcode.Failed, errors.Join(errs...))
}

func (f *figures) add(who string, ranks int, s Sample) {
	at := cell{who, ranks, s.Bytes}
	if f.times[at] == nil {
		f.times[at] = map[string][]float64{}
	}
	f.times[at][s.Way] = append(f.times[at][s.Way], s.Time)
	f.between[at] = float64(s.Between)
}

// time returns the median time of the best way.
func (f *figures) time(who string, ranks, bytes int) (seconds float64, ok bool) {
	for _, rounds := range f.times[cell{who, ranks, bytes}] {
		if m := median(rounds); !ok || m < seconds {
			seconds, ok = m, true
		}
	}
	return seconds, ok
}

// bytesBetween returns how many bytes leave their host in one sum.
func (f *figures) bytesBetween(who string, ranks, bytes int) (n float64, ok bool) {
	n = f.between[cell{who, ranks, bytes}]
	return n, n > 0
}

// median of an even number is the mean of the two in the middle.
func median(x []float64) float64 {
	sorted := slices.Sorted(slices.Values(x))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// ranks and sizes return the numbers that there are figures or failures for, in
// order.
func (f *figures) ranks() []int { return f.numbers(func(c cell) int { return c.ranks }) }
func (f *figures) sizes() []int { return f.numbers(func(c cell) int { return c.bytes }) }

func (f *figures) numbers(of func(cell) int) []int {
	seen := map[int]bool{}
	for c := range f.times {
		seen[of(c)] = true
	}
	for c := range f.failed {
		seen[of(c)] = true
	}
	return slices.Sorted(maps.Keys(seen))
}
