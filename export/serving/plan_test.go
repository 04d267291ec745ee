package serving

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// steps decides and does until nothing is left to do, and returns what was done: +4 is a load, -3 a drop.
func steps(t *testing.T, b Base, there []folder, loaded []*Version) (done string, left []*Version) {
	t.Helper()
	var words []string
	for range 100 {
		switch a := b.next(there, loaded); {
		case a.drop != nil:
			words = append(words, fmt.Sprint(-a.drop.Number))
			loaded = slices.DeleteFunc(slices.Clone(loaded), func(v *Version) bool { return v == a.drop })
		case a.load != nil:
			words = append(words, fmt.Sprintf("+%d", a.load.number))
			loaded = slices.DeleteFunc(slices.Clone(loaded), func(v *Version) bool { return v.Number == a.load.number })
			loaded = append(loaded, &Version{Number: a.load.number, Path: a.load.path})
			slices.SortFunc(loaded, func(a, b *Version) int { return int(a.Number - b.Number) })
		default:
			return strings.Join(words, " "), loaded
		}
	}
	t.Fatalf("policy %v: 100 actions do not end: %v", b.Policy, words)
	return "", nil
}

// at returns version folders of a base.
func at(base string, numbers ...int64) []folder {
	var all []folder
	for _, n := range numbers {
		all = append(all, folder{number: n, path: fmt.Sprint(base, "/", n)})
	}
	return all
}

// TestNext verifies what a model loads and drops, in order: the new before the old goes, no more than
// the policy asks for, and never the last.
func TestNext(t *testing.T) {
	tests := []struct {
		name   string
		policy string
		labels map[string]int64
		loaded []int64
		there  []int64
		want   string
	}{
		{"start", "latest", nil, nil, []int64{1, 2, 3}, "+3"},
		{"nothing there", "latest", nil, nil, nil, ""},
		{"new version", "latest", nil, []int64{3}, []int64{3, 4}, "+4 -3"},
		{"rest", "latest", nil, []int64{4}, []int64{3, 4}, ""},
		{"several new", "latest", nil, []int64{3}, []int64{3, 4, 5, 6}, "+6 -3"},
		{"deleted stays", "latest", nil, []int64{4}, nil, ""},
		{"deleted is rolled back", "latest", nil, []int64{4}, []int64{3}, "+3 -4"},
		{"deleted and replaced", "latest", nil, []int64{4}, []int64{5}, "+5 -4"},
		{"two", "latest:2", nil, nil, []int64{1, 2, 3}, "+3 +2"},
		{"two, one new", "latest:2", nil, []int64{2, 3}, []int64{2, 3, 4}, "+4 -2"},
		{"two, both new", "latest:2", nil, []int64{2, 3}, []int64{2, 3, 4, 5}, "+5 -2 +4 -3"},
		{"two, one deleted stays", "latest:2", nil, []int64{2, 3}, []int64{3}, ""},
		{"two, one deleted and replaced", "latest:2", nil, []int64{2, 3}, []int64{1, 3}, "+1 -2"},
		{"all", "all", nil, []int64{1}, []int64{1, 2, 3}, "+3 +2"},
		{"all, one deleted", "all", nil, []int64{1, 2, 3}, []int64{1, 3}, "-2"},
		{"all, all deleted", "all", nil, []int64{1, 2}, nil, "-1"},
		{"numbers", "3,5", nil, nil, []int64{2, 3, 4, 5}, "+5 +3"},
		{"numbers, none there", "7", nil, []int64{3}, []int64{3, 4}, ""},
		{"other numbers", "4", nil, []int64{3}, []int64{3, 4}, "+4 -3"},
		{"label", "latest", map[string]int64{"stable": 2}, nil, []int64{1, 2, 3}, "+3 +2"},
		{"label keeps its version", "latest", map[string]int64{"stable": 2}, []int64{2, 3}, []int64{2, 3, 4}, "+4 -3"},
		{"label moves", "latest", map[string]int64{"stable": 3}, []int64{2, 4}, []int64{2, 3, 4}, "+3 -2"},
		{"label of nothing", "latest", map[string]int64{"stable": 9}, []int64{4}, []int64{4}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := ParsePolicy(tt.policy)
			if err != nil {
				t.Fatal(err)
			}
			var loaded []*Version
			for _, f := range at("m", tt.loaded...) {
				loaded = append(loaded, &Version{Number: f.number, Path: f.path})
			}
			if got, _ := steps(t, Base{Policy: p, Labels: tt.labels}, at("m", tt.there...), loaded); got != tt.want {
				t.Errorf("loaded %v, there %v: %q, want %q", tt.loaded, tt.there, got, tt.want)
			}
		})
	}
}

// TestNextServesThroughout verifies for all small sets of folders and loaded versions, and for each
// policy, that the actions end, that a version is loaded at each moment once one was, and that all
// wanted versions are loaded in the end.
func TestNextServesThroughout(t *testing.T) {
	for _, text := range []string{"latest", "latest:2", "latest:3", "all", "1,3"} {
		p, err := ParsePolicy(text)
		if err != nil {
			t.Fatal(err)
		}
		b := Base{Policy: p, Labels: map[string]int64{"stable": 2}}
		for bits := range 1 << 10 {
			there, loaded := at("m", subset(bits&31)...), []*Version{}
			for _, n := range subset(bits >> 5) {
				loaded = append(loaded, &Version{Number: n, Path: fmt.Sprint("m/", n)})
			}
			_, left := steps(t, b, there, loaded)
			if len(left) == 0 && len(loaded)+len(b.wanted(there)) > 0 {
				t.Fatalf("policy %s, there %v, loaded %v: nothing is left", text, there, loaded)
			}
			for _, f := range b.wanted(there) {
				if !slices.ContainsFunc(left, func(v *Version) bool { return v.Path == f.path }) {
					t.Fatalf("policy %s, there %v, loaded %v: version %d is not loaded", text, there, loaded, f.number)
				}
			}
			if len(left) > max(len(b.wanted(there)), p.Latest, 1) {
				t.Fatalf("policy %s, there %v, loaded %v: %d versions are left", text, there, loaded, len(left))
			}
		}
	}
}

// subset returns the numbers from 1 whose bits are set.
func subset(bits int) []int64 {
	var numbers []int64
	for i := range 5 {
		if bits>>i&1 == 1 {
			numbers = append(numbers, int64(i+1))
		}
	}
	return numbers
}

// TestNextOtherBase verifies that a version in another folder than the loaded one of its number is loaded.
func TestNextOtherBase(t *testing.T) {
	b := Base{Policy: Policy{Latest: 1}}
	if got, _ := steps(t, b, at("new", 3), []*Version{{Number: 3, Path: "old/3"}}); got != "+3" {
		t.Errorf("actions %q, want +3", got)
	}
}

// TestPolicies verifies the texts of policies and labels, and that each wrong one is refused by its word.
func TestPolicies(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"latest", "{1 []}"}, {"latest:3", "{3 []}"}, {"all", "{0 []}"}, {"3,5", "{0 [3 5]}"}, {"0", "{0 [0]}"},
		{"latest:0", `"latest:0"`}, {"latest:x", `"latest:x"`}, {"latest:", `"latest:"`}, {"latest3", `"latest3"`}, {"newest", `"newest"`}, {"3,", `""`}, {"-1", `"-1"`}, {"+1", `"+1"`}, {"", `""`},
	} {
		p, err := ParsePolicy(tt.text)
		if got := fmt.Sprint(p); err == nil && got != tt.want || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("policy %q is %v, %v, want %s", tt.text, got, err, tt.want)
		}
	}
	for _, texts := range [][]string{{"stable"}, {"=3"}, {"stable=x"}, {"a=1", "a=2"}} {
		if l, err := ParseLabels(texts); err == nil {
			t.Errorf("labels %q are %v, want an error", texts, l)
		}
	}
	if l, err := ParseLabels([]string{"stable=3", "canary=4"}); err != nil || l["stable"] != 3 || l["canary"] != 4 {
		t.Errorf("labels are %v, %v", l, err)
	}
}
