package phrase

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of foreign texts, in bytes.
const (
	MaxName = 255  // a host, address, job id, version or phase
	MaxText = 8192 // the text of a cause: 64 missing ranks with addresses and reasons
)

// Foreign returns a text that others wrote, another process, a file or a person, in the form in which it
// may be printed: at most n bytes in one line of UTF-8. Each character that is not printable becomes a
// question mark, and so do bytes that are no UTF-8. Such characters move the cursor of a terminal (C0,
// C1), change the order in which a line is shown (U+202E), or break it (U+2028).
func Foreign(s string, n int) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, strings.ToValidUTF8(Clip(s, n), "?"))
}

// Name returns s as a foreign text of at most MaxName bytes.
func Name(s string) string { return Foreign(s, MaxName) }

// Clip cuts s to at most n bytes, 3 or more, at a character boundary.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const dots = "…"
	for n -= len(dots); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n] + dots
}
