package phrase

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// TestForeign verifies which characters of others are replaced, and where a long text is cut.
func TestForeign(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"Zürich, 東京, naïve":             "Zürich, 東京, naïve",
		"a\x1b[2J\nb\tc\r":              "a?[2J?b?c?",
		"C1 \u009b31m \u0085":           "C1 ?31m ?",
		"bidi \u202etxt.\u2066":         "bidi ?txt.?",
		"lines \u2028\u2029 and \u00a0": "lines ?? and ?",
		"bytes \xff\xfe and \xc2":       "bytes ? and ?",
		"the one that was read: \ufffd": "the one that was read: \ufffd",
		strings.Repeat("ü", 21):         strings.Repeat("ü", 18) + "…",
	} {
		if got := Foreign(text, 40); got != want {
			t.Errorf("%q is printed as %q, want %q", text, got, want)
		}
	}
}

// FuzzForeign verifies that a foreign text has at most the bytes that it may have, all of them of
// printable characters, and that it does not change when it passes a second time.
func FuzzForeign(f *testing.F) {
	f.Add("a\x1b[31mb\u009b\u202e\u2028\xff", uint16(20))
	f.Add(strings.Repeat("ü", 400), uint16(MaxName))
	f.Add("\x80\x80\x80\x80\x80", uint16(3))
	f.Fuzz(func(t *testing.T, s string, n uint16) {
		most := max(int(n), len("…"))
		got := Foreign(s, most)
		if len(got) > most || !utf8.ValidString(got) || strings.ContainsFunc(got, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Errorf("%q is printed as %q, want printable text of at most %d bytes", s, got, most)
		}
		if again := Foreign(got, most); again != got {
			t.Errorf("%q is printed as %q, and that as %q", s, got, again)
		}
	})
}
