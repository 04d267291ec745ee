package parquet

import (
	"context"

	"ringtrain/input"
	"ringtrain/input/column"
)

// Rows are the records of files in their order. Their cells are the texts that CSV would have.
type Rows struct {
	Names  []string // columns of the files, then those of folders
	Lists  []bool   // of each column: a record may have several values
	Unread []error  // why columns of the files cannot be read

	table *table
}

// A Row is a record.
type Row struct {
	Number int // in all files
	File   int // number of its file
	Record int // in the file
	Cells  []column.Cell
}

// A Need is how a column of rows is read.
type Need int

const (
	Texts   Need = iota // as training reads texts: all files want values of one type
	Numbers             // as training reads numbers: a boolean is 0 or 1
	Shown               // for people: a column that some files cannot give is left out
	Unread              // not at all
)

// OpenRows returns the records of files. Their columns are those of the first file. Each record has a cell for each column
// of the folders, too. Where no numbers are read, a boolean is false or true.
func OpenRows(ctx context.Context, files []string, folders input.Folders, limits input.Limits, need func(name string) Need) (*Rows, error) {
	all, err := openAll(files, limits)
	if err != nil {
		return nil, err
	}
	r := &Rows{}
	var columns []wanted
	for _, c := range all[0].Columns() {
		w := wanted{name: c.Name, need: need(c.Name)}
		if w.need == Unread {
			continue
		}
		switch err := w.find(ctx, all, folders, "the first file"); {
		case err != nil && w.need == Shown && folders.Find(c.Name) < 0:
			r.Unread = append(r.Unread, err)
		case err != nil:
			return nil, err
		default:
			columns, r.Names, r.Lists = append(columns, w), append(r.Names, w.name), append(r.Lists, w.lists())
		}
	}
	for _, name := range folders.Names {
		w := wanted{name: name}
		if err := w.find(ctx, all, folders, "a folder"); err != nil {
			return nil, err
		}
		columns, r.Names, r.Lists = append(columns, w), append(r.Names, name), append(r.Lists, false)
	}
	r.table = newTable(all, columns, sequentialBytes)
	return r, nil
}

// Records returns the number of records.
func (r *Rows) Records() int { return r.table.count }

// Close closes the files.
func (r *Rows) Close() error { return r.table.Close() }

// Each calls visit with records [from, to). A row is valid until visit returns. An error of visit ends Each, as it is.
func (r *Rows) Each(ctx context.Context, from, to int, visit func(*Row) error) error {
	t := r.table
	row := Row{Cells: make([]column.Cell, len(r.Names))}
	for at := from / t.size; at < t.blocks() && at*t.size < to; at++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.eachOf(at, from, to, &row, visit); err != nil {
			return err
		}
	}
	return nil
}

// eachOf is Each of the records of a block.
func (r *Rows) eachOf(at, from, to int, row *Row, visit func(*Row) error) error {
	t := r.table
	held, err := t.loaded.Get(at)
	if err != nil {
		return err
	}
	defer t.loaded.Put(held)
	for n := max(from, at*t.size); n < min(to, at*t.size+t.Count(at)); n++ {
		row.Number, row.File = n, t.fileOf(n)
		row.Record = n - t.firsts[row.File]
		for i := range held.Data {
			held.Data[i].fill(&row.Cells[i], n-at*t.size)
		}
		if err := visit(row); err != nil {
			return err
		}
	}
	return nil
}
