package show

import (
	"io"
	"math"
	"strings"

	"ringtrain/input/remote"
	"ringtrain/ring/phrase"
)

// printable is a writer for lines of text. Messages and tables have names of files and columns, and words
// out of data and checkpoints, as they are: printable makes foreign texts of all of them at once.
type printable struct {
	out    io.Writer
	most   int     // bytes of a line
	screen *screen // a terminal, at whose width lines are split; nil: they are not
}

// Printable returns a writer to w for lines of text, of at most most bytes each. A terminal gets lines that
// fit, if each write has whole lines. Bytes of programs and data that is asked for do not go by way of it.
func Printable(w io.Writer, most int) io.Writer {
	if s := screenOf(w); s != nil && s.wraps {
		return printable{w, most, s}
	}
	return printable{w, most, nil}
}

// Verbatim is Printable for lines that stay whole on a terminal, too, such as those of a job file.
func Verbatim(w io.Writer) io.Writer { return printable{w, math.MaxInt, nil} }

// MaxMessage bounds a line of a message, in bytes.
const MaxMessage = 2 * phrase.MaxText

func (p printable) Write(b []byte) (int, error) {
	text := printed(string(b), p.most)
	if p.screen != nil {
		text = wrapText(text, p.screen.shape().Columns)
	}
	if _, err := io.WriteString(p.out, text); err != nil {
		return 0, err
	}
	return len(b), nil
}

// printed returns a text in which each line is a foreign text of at most most bytes. Tabs stay. Copies of objects have
// their URLs.
func printed(text string, most int) string {
	lines := strings.Split(remote.Named(text), "\n")
	for i, line := range lines {
		cells := strings.Split(line, "\t")
		for k, cell := range cells {
			cells[k] = phrase.Foreign(cell, most)
		}
		lines[i] = strings.Join(cells, "\t")
	}
	return strings.Join(lines, "\n")
}
