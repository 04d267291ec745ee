package serving

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Policy says which versions of a model are served. The zero value is all.
type Policy struct {
	Latest int     // the newest so many; 0: not by age
	Only   []int64 // these alone; nil: not by number
}

// ParsePolicy returns the policy of a text: latest, latest:N, all, or numbers as 3,5.
func ParsePolicy(text string) (Policy, error) {
	kind, count, counted := strings.Cut(text, ":")
	switch {
	case text == "all":
		return Policy{}, nil
	case text == "latest":
		return Policy{Latest: 1}, nil
	case counted && kind == "latest":
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 {
			return Policy{}, fmt.Errorf("%q is no number of versions, want latest:N with N 1 or more", count)
		}
		return Policy{Latest: n}, nil
	}
	var p Policy
	for word := range strings.SplitSeq(text, ",") {
		n, ok := versionNumber(strings.TrimSpace(word))
		if !ok {
			return Policy{}, fmt.Errorf("%q is no version, want latest, latest:N, all, or numbers as 3,5", word)
		}
		p.Only = append(p.Only, n)
	}
	return p, nil
}

// pick returns the versions that the policy wants of those that there are, by number, ascending.
func (p Policy) pick(there []int64) []int64 {
	switch {
	case p.Only != nil:
		return slices.DeleteFunc(slices.Clone(there), func(n int64) bool { return !slices.Contains(p.Only, n) })
	case p.Latest > 0:
		return there[max(0, len(there)-p.Latest):]
	}
	return there
}

// versionNumber returns the number of a version folder, as TensorFlow Serving reads it: "00000123" is 123.
func versionNumber(name string) (int64, bool) {
	n, err := strconv.ParseInt(name, 10, 64)
	return n, err == nil && n >= 0 && name[0] != '+'
}

// ParseLabels returns the labels of texts such as stable=3.
func ParseLabels(texts []string) (map[string]int64, error) {
	labels := map[string]int64{}
	for _, text := range texts {
		label, number, _ := strings.Cut(text, "=")
		n, ok := versionNumber(number)
		if label == "" || !ok {
			return nil, fmt.Errorf("%q is no label of a version, want one as stable=3", text)
		}
		if old, twice := labels[label]; twice && old != n {
			return nil, fmt.Errorf("the label %q is that of versions %d and %d, want one", label, old, n)
		}
		labels[label] = n
	}
	return labels, nil
}
