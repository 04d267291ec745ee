package interpreter

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

// lower binds StringLower: of ASCII letters, or of all in the encoding utf-8.
func lower(n *node) (textFunc, error) {
	encoding := n.text("encoding", "")
	if encoding != "" && encoding != "utf-8" {
		return nil, fmt.Errorf("encoding is %q, want \"\" or utf-8", encoding)
	}
	return func(a *arena, s []byte) []byte {
		if encoding != "" && slices.ContainsFunc(s, func(c byte) bool { return c >= utf8.RuneSelf }) {
			return cases.Lower(language.Und).Bytes(a.valid(s, utf8.RuneError))
		}
		start := len(a.bytes)
		for _, c := range s {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			a.bytes = append(a.bytes, c)
		}
		return a.text(start)
	}, nil
}

// valid returns s with another character in the place of each sequence that is no UTF-8, as ICU and the Unicode
// Standard cut them.
func (a *arena) valid(s []byte, instead rune) []byte {
	if utf8.Valid(s) {
		return s
	}
	start := len(a.bytes)
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if r == utf8.RuneError && n == 1 {
			r = instead
			for n < len(s) && !utf8.FullRune(s[:n]) && !utf8.FullRune(s[:n+1]) {
				n++
			}
		}
		a.bytes, s = utf8.AppendRune(a.bytes, r), s[n:]
	}
	return a.text(start)
}

// transcode binds UnicodeTranscode from UTF-8 to UTF-8, which mends a text.
func transcode(n *node) (textFunc, error) {
	in, out, errs := n.text("input_encoding", ""), n.text("output_encoding", ""), n.text("errors", "replace")
	if in != "UTF-8" || out != "UTF-8" || errs != "replace" || n.boolean("replace_control_characters", false) {
		return nil, fmt.Errorf("from %s to %s with errors=%s: no model that was tried mends texts but from UTF-8 to UTF-8 with replace", in, out, errs)
	}
	instead := rune(n.integer("replacement_char", utf8.RuneError))
	if !utf8.ValidRune(instead) {
		return nil, fmt.Errorf("replacement_char is %d, want a code point", instead)
	}
	return func(a *arena, s []byte) []byte { return a.valid(s, instead) }, nil
}
