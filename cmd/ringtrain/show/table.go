package show

import (
	"bytes"
	"io"
	"text/tabwriter"
)

// A table has rows whose cells end in tabs. It is written at once: a terminal takes whole lines.
type table struct {
	*tabwriter.Writer
	text *bytes.Buffer
}

// newTable returns a table with a first row. flags are those of a tabwriter.
func newTable(flags uint, head string) table {
	t := table{text: new(bytes.Buffer)}
	t.Writer = tabwriter.NewWriter(t.text, 0, 0, 2, ' ', flags)
	io.WriteString(t, head) // to memory
	return t
}

// writeTo writes the table.
func (t table) writeTo(w io.Writer) error {
	t.Flush() // to memory
	_, err := w.Write(t.text.Bytes())
	return err
}
