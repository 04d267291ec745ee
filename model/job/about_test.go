package job

import (
	"strings"
	"testing"
)

// TestAbout verifies that each key has a text, that no text belongs to a key that is gone,
// and that a text ends as a sentence does.
func TestAbout(t *testing.T) {
	texts, err := About("")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, k := range texts {
		if !strings.HasSuffix(k.Text, ".") {
			t.Errorf("text of %s is %q, want a sentence", k.Key, k.Text)
		}
		seen[k.Key] = true
	}
	for key := range about {
		if !seen[key] {
			t.Errorf("%s has a text and is no key", key)
		}
	}
}

// TestAboutNames verifies which names About takes: keys, groups, and no others.
func TestAboutNames(t *testing.T) {
	for name, want := range map[string]int{"input.batch": 1, "train.average": 3, "input.eval.files": 1} {
		if got, err := About(name); len(got) != want || err != nil {
			t.Errorf("About(%q) has %d keys, %v, want %d", name, len(got), err, want)
		}
	}
	for name, want := range map[string]string{"input.bach": `did you mean "input.batch"?`, "trian": `did you mean "train"?`, "inpu": `did you mean "input"?`} {
		if _, err := About(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("About(%q) = %v, want %s", name, err, want)
		}
	}
}
