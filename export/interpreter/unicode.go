package interpreter

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
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
	return func(a *arena, s []byte) ([]byte, error) {
		if encoding != "" && bytes.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
			return a.lowerUnicode(s), nil
		}
		if !slices.ContainsFunc(s, isUpper) {
			return s, nil
		}
		start := len(a.bytes)
		for _, c := range s {
			if isUpper(c) {
				c += 'a' - 'A'
			}
			a.bytes = append(a.bytes, c)
		}
		return a.text(start), nil
	}, nil
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }

// lowerUnicode returns the small letters of s. Bytes that are no UTF-8 become U+FFFD.
func (a *arena) lowerUnicode(s []byte) []byte {
	start := len(a.bytes)
	a.appendValid(s, func(dst, bad []byte) []byte { return utf8.AppendRune(dst, utf8.RuneError) })
	valid := a.text(start)
	start = len(a.bytes)
	a.bytes = slices.Grow(a.bytes, 3*len(valid))
	lower := cases.Lower(language.Und)
	n, _, err := lower.Transform(a.bytes[start:start+3*len(valid)], valid, true)
	if err != nil {
		panic("interpreter: a small letter takes more than three times the bytes")
	}
	a.bytes = a.bytes[:start+n]
	return a.text(start)
}

// appendValid appends s to the arena. Instead of each sequence that is no UTF-8, as ICU and the Unicode
// Standard cut them, it appends what instead does.
func (a *arena) appendValid(s []byte, instead func(dst, bad []byte) []byte) {
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		if r != utf8.RuneError || n > 1 {
			a.bytes = append(a.bytes, s[:n]...)
		} else {
			for n < len(s) && !utf8.FullRune(s[:n]) && !utf8.FullRune(s[:n+1]) {
				n++
			}
			a.bytes = instead(a.bytes, s[:n])
		}
		s = s[n:]
	}
}

// transcode binds UnicodeTranscode from UTF-8 to UTF-8, which mends a text.
func transcode(n *node) (textFunc, error) {
	for _, name := range []string{"input_encoding", "output_encoding"} {
		if e := n.text(name, "UTF-8"); !strings.EqualFold(e, "UTF-8") {
			return nil, fmt.Errorf("%s is %q, want UTF-8: no other is known here", name, e)
		}
	}
	errs, by := n.text("errors", "replace"), rune(n.integer("replacement_char", utf8.RuneError))
	if !utf8.ValidRune(by) {
		return nil, fmt.Errorf("replacement_char is %d, want a code point", by)
	}
	controls := n.boolean("replace_control_characters", false)
	if errs != "replace" && errs != "ignore" && errs != "strict" {
		return nil, fmt.Errorf("errors is %q, want replace, ignore or strict", errs)
	}
	instead := func(dst, _ []byte) []byte {
		if errs == "ignore" {
			return dst
		}
		return utf8.AppendRune(dst, by)
	}
	isControl := func(c byte) bool { return controls && c < ' ' }
	return func(a *arena, s []byte) ([]byte, error) {
		if utf8.Valid(s) && !slices.ContainsFunc(s, isControl) {
			return s, nil
		}
		if errs == "strict" {
			return nil, errors.New("a text is no UTF-8, or has control characters")
		}
		start := len(a.bytes)
		for len(s) > 0 {
			plain := s
			if i := slices.IndexFunc(s, isControl); i >= 0 {
				plain = s[:i]
			}
			a.appendValid(plain, instead)
			if s = s[len(plain):]; len(s) > 0 {
				a.bytes, s = instead(a.bytes, nil), s[1:]
			}
		}
		return a.text(start), nil
	}, nil
}
