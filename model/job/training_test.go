package job

import "testing"

// TestInitFromMatches verifies which names a pattern of train.init_from matches.
func TestInitFromMatches(t *testing.T) {
	if matches("[", "a") || !matches("a", "a/b/c") || matches("b", "a/b") || !matches("a/*", "a/b/c") {
		t.Error("patterns match other names")
	}
}
