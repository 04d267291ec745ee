package show

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"

	"ringtrain/ring/phrase"
)

// printable is a writer for lines of text. Messages and tables have names of files and columns, and words
// out of data and checkpoints, as they are: printable makes foreign texts of all of them at once.
type printable struct {
	out  io.Writer
	most int // bytes of a line
}

// Printable returns a writer to w for lines of text, of at most most bytes each. Bytes of programs and
// data that is asked for do not go by way of it.
func Printable(w io.Writer, most int) io.Writer { return printable{w, most} }

// MaxMessage bounds a line of a message, in bytes.
const MaxMessage = 2 * phrase.MaxText

func (p printable) Write(b []byte) (int, error) {
	text := make([]byte, 0, len(b))
	for rest := string(b); rest != ""; {
		end := strings.IndexAny(rest, "\n\t")
		if end < 0 {
			end = len(rest)
		}
		text = append(text, phrase.Foreign(rest[:end], p.most)...)
		if rest = rest[end:]; rest != "" {
			text, rest = append(text, rest[0]), rest[1:]
		}
	}
	if _, err := p.out.Write(text); err != nil {
		return 0, err
	}
	return len(b), nil
}

// marshal returns v as JSON whose bytes are all of printable characters. JSON can tell of other
// characters, and programs get back what a column is called, so none is replaced.
func marshal(v any) ([]byte, error) {
	text, err := json.Marshal(v)
	escaped := make([]byte, 0, len(text))
	for _, r := range string(text) {
		if unicode.IsPrint(r) {
			escaped = append(escaped, string(r)...)
			continue
		}
		for _, half := range utf16.AppendRune(nil, r) {
			escaped = fmt.Appendf(escaped, `\u%04x`, half)
		}
	}
	return escaped, err
}
