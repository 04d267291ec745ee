package bundled

import (
	"fmt"
	"io"
	"slices"

	"ringtrain/export/ask"
	"ringtrain/input"
	"ringtrain/ring/phrase"
)

// table reads CSV with a header.
func (r *reader) table(content io.Reader) error {
	t, err := ask.NewTable(content, input.Partitions(r.file.Name), r.inputs, r.columns)
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return r.bad("line", 1, err)
	}
	label := slices.Index(t.Header, r.columns.Label.Name)
	if r.labels && label < 0 {
		return r.bad("line", 1, fmt.Errorf("no column %s%s", phrase.Name(r.columns.Label.Name), phrase.DidYouMean(r.columns.Label.Name, t.Header)))
	}
	for {
		inputs, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			cell := ""
			if r.labels {
				cell = t.Cells[label]
			}
			err = r.add(inputs, cell)
		}
		if err != nil {
			return r.bad("line", t.Line, err)
		}
	}
}
