// Package sanitize bounds texts of other processes and makes them safe for a terminal.
package sanitize

import (
	"strings"
	"unicode/utf8"
)

// Bounds of texts, in bytes.
const (
	MaxName = 255  // a host, address, job id, version or phase
	MaxText = 8192 // the text of a cause: 64 missing ranks with addresses and reasons
)

// Clip cuts s to at most n bytes, at a character boundary.
func Clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	const dots = "…"
	for n -= len(dots); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n] + dots
}

// Line returns s as one line of valid UTF-8 without control characters, of at most n bytes.
func Line(s string, n int) string {
	s = strings.ToValidUTF8(s, "?")
	return Clip(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s), n)
}

// Name returns s as a line of at most MaxName bytes.
func Name(s string) string { return Line(s, MaxName) }
