package interpreter

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// lower binds the small letters of ASCII, or of all letters in the encoding utf-8.
func lower(n *node) func(a *arena, s []byte) []byte {
	switch encoding := n.text("encoding"); encoding {
	case "utf-8":
		return func(a *arena, s []byte) []byte {
			s, _, _ = bytes.Cut(s, []byte{0}) // as TensorFlow
			return a.mend(s, utf8.RuneError, true)
		}
	case "":
	default:
		refuse("encoding is %q, want \"\" or utf-8", encoding)
	}
	return func(a *arena, s []byte) []byte {
		start := len(a.bytes)
		for _, c := range s {
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			a.bytes = append(a.bytes, c)
		}
		return a.text(start)
	}
}

// transcode binds the transcoding from UTF-8 to UTF-8, which mends a text.
func transcode(n *node) func(a *arena, s []byte) []byte {
	instead := rune(n.integer("replacement_char", utf8.RuneError))
	if !utf8.ValidRune(instead) {
		refuse("replacement_char is %d, want a character", instead)
	}
	return func(a *arena, s []byte) []byte { return a.mend(s, instead, false) }
}

// mend returns s with another character in the place of each sequence that is no UTF-8, as ICU and the Unicode Standard
// cut them, and with small letters if it should have them.
func (a *arena) mend(s []byte, instead rune, small bool) []byte {
	if utf8.Valid(s) && !small {
		return s
	}
	start := len(a.bytes)
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			for r = instead; i+n < len(s) && !utf8.FullRune(s[i:i+n]) && !utf8.FullRune(s[i:i+n+1]); {
				n++
			}
		case small && r == 'Σ' && isLast(s[:i], s[i+n:]):
			r = 'ς'
		case small && r == 'İ':
			a.bytes, r = append(a.bytes, 'i'), '\u0307'
		case small:
			r = unicode.ToLower(r)
		}
		a.bytes, i = utf8.AppendRune(a.bytes, r), i+n
	}
	return a.text(start)
}

// isLast reports whether a letter between two texts is the last of a word, and not its only one.
func isLast(before, after []byte) bool {
	ignored := func(r rune) bool {
		return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk) || strings.ContainsRune("'.:·՟״‘’․‧︓﹒﹕＇．：", r)
	}
	cased := func(r rune) bool {
		return unicode.In(r, unicode.Lu, unicode.Ll, unicode.Lt, unicode.Other_Lowercase, unicode.Other_Uppercase)
	}
	last, _ := utf8.DecodeLastRune(bytes.TrimRightFunc(before, ignored))
	next, _ := utf8.DecodeRune(bytes.TrimLeftFunc(after, ignored))
	return cased(last) && !cased(next)
}
