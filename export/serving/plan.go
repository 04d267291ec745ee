package serving

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Base is a model as the command line or the configuration describes it.
type Base struct {
	Name, Path string // of the model; of the folder of its version folders
	Policy     Policy
	Labels     map[string]int64 // to numbers of versions
}

// Policy says which versions of a model are served. The zero value is all.
type Policy struct {
	Latest int     // the newest so many; 0: not by age
	Only   []int64 // these alone; nil: not by number
}

// ParsePolicy returns the policy of a text: latest, latest:N, all, or numbers as 3,5.
func ParsePolicy(text string) (p Policy, err error) {
	if text == "all" {
		return p, nil
	}
	if count, ok := strings.CutPrefix(text+":1", "latest:"); ok {
		p.Latest, err = strconv.Atoi(strings.TrimSuffix(count, ":1"))
		if err != nil || p.Latest < 1 {
			err = fmt.Errorf("%q counts no versions, want latest:N with N 1 or more", text)
		}
		return p, err
	}
	for word := range strings.SplitSeq(text, ",") {
		n, ok := versionNumber(word)
		if !ok {
			return p, fmt.Errorf("%q is no version, want latest, latest:N, all, or numbers as 3,5", word)
		}
		p.Only = append(p.Only, n)
	}
	return p, nil
}

// ParseLabels returns the labels of texts such as stable=3.
func ParseLabels(texts []string) (map[string]int64, error) {
	labels := map[string]int64{}
	for _, text := range texts {
		label, number, _ := strings.Cut(text, "=")
		n, ok := versionNumber(number)
		if old, twice := labels[label]; label == "" || !ok || twice && old != n {
			return nil, fmt.Errorf("%q is no label of one version, want one as stable=3", text)
		}
		labels[label] = n
	}
	return labels, nil
}

// action is the next thing to do for a model. At most one of its fields is set.
type action struct {
	load *folder
	drop *Version
}

// next decides the next action for a model from the version folders that can be loaded and from the
// loaded versions, both by number, ascending. It is called until there is nothing left to do.
//
// The newest version is loaded first. A version that is not wanted is dropped as soon as others take its
// place: no more versions stay than the policy asks for, and the last one stays until another is loaded.
// So a folder that is deleted remains served while nothing replaces it.
func (b Base) next(there []folder, loaded []*Version) action {
	wanted := b.wanted(there)
	isWanted := func(n int64) bool {
		return slices.ContainsFunc(wanted, func(f folder) bool { return f.number == n })
	}
	full := len(loaded) > max(len(wanted), b.Policy.Latest, 1)
	for _, v := range loaded {
		if full && !isWanted(v.Number) {
			return action{drop: v}
		}
	}
	for _, f := range slices.Backward(wanted) {
		if !slices.ContainsFunc(loaded, func(v *Version) bool { return v.Path == f.path }) {
			return action{load: &f}
		}
	}
	return action{}
}

// wanted returns the folders of the versions that the policy wants, and of those that have a label.
func (b Base) wanted(there []folder) (wanted []folder) {
	for i, f := range there {
		p := b.Policy
		picked := p.Only == nil && (p.Latest == 0 || i >= len(there)-p.Latest) || slices.Contains(p.Only, f.number)
		for _, n := range b.Labels {
			picked = picked || n == f.number
		}
		if picked {
			wanted = append(wanted, f)
		}
	}
	return wanted
}
