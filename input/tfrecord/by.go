package tfrecord

import (
	"context"
	"runtime"

	"ringtrain/input"
	"ringtrain/input/column"
)

// sort puts the records into the parts that their features Split.By say. A bad record has none, nor has a list of
// several.
func (s *columnSet) sort(ctx context.Context) error {
	by, byValue, held := s.config.Split.By, s.config.Split.From != "", s.facts.Parts
	folder := s.folders.Find(by)
	parts := (s.facts.Records + partRecords - 1) / partRecords
	err := input.SideBySide(ctx, parts, runtime.GOMAXPROCS(0), func(_, number int) error {
		var frame, memory []byte
		var cell column.Cell
		for i := number * partRecords; i < min((number+1)*partRecords, s.facts.Records); i++ {
			if folder >= 0 {
				held.PutCell(i, s.columns.Plan.SplitCell(s.folders.Cell(folder, s.fileOf(i)), byValue))
				continue
			}
			cell = column.Cell{IDs: cell.IDs[:0], Values: cell.Values[:0]}
			err := s.with(&frame, i, func(example []byte) error {
				return eachEntry(example, func(name, feature []byte) error {
					if string(name) != by {
						return nil
					}
					return fillCell(&cell, feature)
				})
			})
			if err != nil && !input.BadRecord(err) {
				return err
			}
			if err != nil {
				cell = column.Cell{}
			}
			held.PutCell(i, s.columns.Plan.SplitCell(cell.Written(&memory), byValue))
		}
		return nil
	})
	if err == nil && s.facts.Records > 0 && held.Without() == int64(s.facts.Records) {
		err = s.absent(by, "input.split.by")
	}
	return err
}
