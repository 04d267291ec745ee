// Package wire has helpers for messages that come from untrusted peers.
package wire

import (
	"io"
	"strings"
	"unicode"
)

// NoEOF turns io.EOF into io.ErrUnexpectedEOF, for a read inside a message: no stream may end
// there.
func NoEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// Printable replaces unprintable characters of a peer's text by question marks: the text must not
// move the cursor of a terminal or break a line of a log.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}
