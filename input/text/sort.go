package text

import (
	"context"

	"ringtrain/input"
)

// Sort puts the records into the parts that their cells say, of a Config.Split by a column. cells returns a function
// for one goroutine and the lines of a file: it returns the cell of a line, empty if the line has none.
func (s *Set) Sort(ctx context.Context, cells func(file int) func(line []byte) []byte) error {
	return input.SideBySide(ctx, s.blocks.Len(), s.goroutines(), func(_, at int) error {
		cell, first := cells(s.FileOf(at)), s.blocks.First(at)
		return s.eachLine(at, func(block *lines, k int) error {
			line, err := block.text(k)
			if err != nil {
				line = nil // a bad record has no cell
			}
			s.facts.Parts.PutCell(first+k, cell(line))
			return nil
		}, unless(false))
	})
}
