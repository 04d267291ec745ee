package parquet

import (
	"context"

	"ringtrain/input"
	"ringtrain/input/column"
)

// Each calls visit with each record in its order: the cells of the columns with these names, as texts that CSV would have.
// A list of several is Texts. The cells are valid until visit returns. An error of visit ends Each, as it is.
func (f *File) Each(ctx context.Context, names []string, visit func(record int, cells []column.Cell) error) error {
	var columns []wanted
	for _, name := range names {
		w := wanted{name: name}
		if err := w.find([]*File{f}, input.Folders{}, "the caller"); err != nil {
			return err
		}
		columns = append(columns, w)
	}
	t := newTable([]*File{f}, columns, 0)
	defer t.Close()
	cells := make([]column.Cell, len(columns))
	for at := range t.blocks() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		held, err := t.loaded.Get(at)
		if err != nil {
			return err
		}
		for k := range t.Count(at) {
			for i := range held.Data {
				held.Data[i].fill(&cells[i], k)
			}
			if err := visit(at*t.size+k, cells); err != nil {
				t.loaded.Put(held)
				return err
			}
		}
		t.loaded.Put(held)
	}
	return nil
}
