package phrase

import "testing"

// TestRanks verifies how ranks are listed for people.
func TestRanks(t *testing.T) {
	for want, list := range map[string][]int{"rank 3": {3}, "ranks 3, 4": {3, 4}, "ranks 3-5": {3, 4, 5}, "ranks 3, 5, 6": {3, 5, 6}} {
		if got := Ranks(list); got != want {
			t.Errorf("%v is told as %q, want %q", list, got, want)
		}
	}
}

// TestDidYouMean verifies which name is suggested instead of another: at most two edits away, or with
// the same beginning.
func TestDidYouMean(t *testing.T) {
	names := []string{"amount", "age", "deepfm", "fm"}
	for name, want := range map[string]string{
		"amuont": " (did you mean amount?)", "deepmf": " (did you mean deepfm?)", "amou": " (did you mean amount?)", "city": "", "": "",
	} {
		if got := DidYouMean(name, names); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
