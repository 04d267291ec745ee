package docs

import (
	"regexp"
	"strings"
	"testing"
)

// TestExplain verifies that each kind of message has an entry in when-it-breaks.md and each entry
// its kind, that the example in an entry's heading is explained by that entry, and that an entry
// says what the message means and what to do.
func TestExplain(t *testing.T) {
	text, ok := Page("when-it-breaks")
	if !ok {
		t.Fatal("no page when-it-breaks")
	}
	known := map[string]bool{}
	for _, e := range explanations {
		known[e.anchor] = true
		section, ok := Section(text, e.anchor)
		if !ok {
			t.Errorf("%s: no entry", e.anchor)
			continue
		}
		heading, body, _ := strings.Cut(section, "\n")
		example := strings.Trim(strings.TrimLeft(heading, "# "), "`")
		if got := Explain(example); got != e.anchor {
			t.Errorf("%s: its example %q is explained by %q", e.anchor, example, got)
		}
		if !strings.Contains(body, "**Meaning.** ") || !strings.Contains(body, "\n1. ") || strings.Contains(body, "<a id=") {
			t.Errorf("%s: the entry is %q, want a meaning, and what to do", e.anchor, body)
		}
	}
	for _, m := range regexp.MustCompile(`<a id="([^"]*)">`).FindAllStringSubmatch(text, -1) {
		if !known[m[1]] {
			t.Errorf("no message leads to the entry %s", m[1])
		}
	}
	if got := Explain("rank 3 has something new"); got != "" {
		t.Errorf("an unknown message is explained by %s", got)
	}
}
