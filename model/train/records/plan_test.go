package records

import (
	"os"
	"path/filepath"
	"ringtrain/ring/exitcode"
	"strings"
	"testing"
)

// TestVocabularyFile verifies the texts of a vocabulary file, and that the error for an empty or
// repeated text names its line.
func TestVocabularyFile(t *testing.T) {
	for text, want := range map[string]string{"a\r\nb\n": "", "a": "", "\ufeffa\nb\n": "", "a\n\nb\n": ":2: want a text", "a\nb\na\n": `:3: "a" occurs twice`, "\xff\n": ":1: want a text", "a\nc\x00\n": ":2: want a text"} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, "v.txt"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		lines, err := readVocabulary(t.Context(), []string{folder}, "v.txt")
		switch {
		case want == "" && (err != nil || lines[0] != "a"):
			t.Errorf("%q: %q, error %v", text, lines, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) || exitcode.Of(err) != exitcode.BadData):
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}
