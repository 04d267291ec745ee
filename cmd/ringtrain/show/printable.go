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
	if _, err := io.WriteString(p.out, printed(string(b), p.most)); err != nil {
		return 0, err
	}
	return len(b), nil
}

// printed returns a text in which each line is a foreign text of at most most bytes. Tabs stay.
func printed(text string, most int) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for k, cell := range cells {
			cells[k] = phrase.Foreign(cell, most)
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
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
