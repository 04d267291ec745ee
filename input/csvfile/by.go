package csvfile

import (
	"fmt"

	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// bindSplit finds the column of Split.By among the places of names.
func (p *parser) bindSplit(places map[string]int) error {
	by := p.config.Split.By
	at, there := places[by]
	switch {
	case by == "" || there || p.folders.Find(by) >= 0:
	case p.config.Header:
		return exitcode.With(exitcode.BadData, fmt.Errorf("%s: %s: no column %s, which input.split.by names%s; the header has %s", p.config.Format, p.first, by, phrase.DidYouMean(by, p.names), listed(p.names)))
	default:
		return exitcode.With(exitcode.Usage, fmt.Errorf("input.split.by is %s, want a column that input.columns names%s: the files have no header", by, phrase.DidYouMean(by, p.names)))
	}
	p.by = at
	return nil
}

// cells returns a function that returns the cell of Split.By of a line of a file. A line without it, and one whose
// quotes are not closed before it, has none.
func (p *parser) cells(file int) func(line []byte) []byte {
	if k := p.folders.Find(p.config.Split.By); k >= 0 {
		cell := p.config.Columns.SplitCell(p.folders.Cell(k, file), p.config.Split.From != "")
		return func([]byte) []byte { return cell }
	}
	s := p.splitter()
	return func(line []byte) []byte {
		fields, err := s.splitUpTo(trimEnd(line), p.by+1)
		if err != nil || len(fields) <= p.by {
			return nil
		}
		return p.config.Columns.SplitCell(fields[p.by], p.config.Split.From != "")
	}
}
