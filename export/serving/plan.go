package serving

import (
	"maps"
	"slices"
)

// Base is a model as the command line or the configuration describes it.
type Base struct {
	Name, Path string // of the model; of the folder of its version folders
	Policy     Policy
	Labels     map[string]int64 // to numbers of versions
}

// action is the next thing to do for a model. At most one of its fields is set.
type action struct {
	load *folder
	drop *Version
}

// next decides the next action for a model from the version folders that can be loaded and from the
// loaded versions, both by number, ascending. It is called until there is nothing left to do.
//
// A labelled version is wanted besides those of the policy. The newest is loaded first. A version that
// is not wanted is dropped as soon as others take its place: no more versions stay than the policy asks
// for, and the last one stays until another is loaded. So a folder that is deleted remains served while
// nothing replaces it.
func (b Base) next(there []folder, loaded []*Version) action {
	wanted := b.wanted(there)
	full := len(loaded) > max(len(wanted), b.Policy.Latest, 1)
	for _, v := range loaded {
		if full && !slices.Contains(wanted, v.Number) {
			return action{drop: v}
		}
	}
	for _, f := range slices.Backward(there) {
		at := slices.IndexFunc(loaded, func(v *Version) bool { return v.Number == f.number })
		if slices.Contains(wanted, f.number) && (at < 0 || loaded[at].Path != f.path) {
			return action{load: &f}
		}
	}
	return action{}
}

// wanted returns the numbers of the versions that should be loaded, ascending.
func (b Base) wanted(there []folder) []int64 {
	numbers := make([]int64, len(there))
	for i, f := range there {
		numbers[i] = f.number
	}
	wanted := slices.Clone(b.Policy.pick(numbers))
	for _, n := range slices.Sorted(maps.Values(b.Labels)) {
		if slices.Contains(numbers, n) {
			wanted = append(wanted, n)
		}
	}
	slices.Sort(wanted)
	return slices.Compact(wanted)
}
