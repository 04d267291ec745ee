package look

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/input/parquet"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

// shown says that columns are read for people.
func shown(string) parquet.Need { return parquet.Shown }

// lookTable looks at files that have columns of names and types.
func (t *Table) lookTable(ctx context.Context, o Options) error {
	rows, err := parquet.OpenRows(ctx, o.files, o.folders, o.Limits, shown)
	if err != nil {
		return err
	}
	defer rows.Close()
	tellUnread(rows, o.Notice)
	if len(rows.Names) < 2 {
		return exitcode.With(exitcode.BadData, fmt.Errorf("%s has %s, want a label and one column more", o.files[0], phrase.Count(len(rows.Names), "column")))
	}
	at, err := findLabel(rows.Names, o.Label)
	if err != nil {
		return err
	}
	p, err := newPass(string(t.Origin.Format), dialect{separator: ',', names: rows.Names[:len(rows.Names)-len(o.folders.Names)]}, o.folders)
	if err != nil {
		return err
	}
	copy(p.lists, rows.Lists)
	p.lists[at] = false
	if err := p.readTable(ctx, o.files, rows); err != nil {
		return err
	}
	if p.records == 0 {
		return exitcode.With(exitcode.BadData, fmt.Errorf("%s has no record", o.files[0]))
	}
	return t.describe(p, at, o)
}

// tellUnread tells of the columns that cannot be read. notice may be nil.
func tellUnread(rows *parquet.Rows, notice func(string)) {
	for _, err := range rows.Unread {
		if notice != nil {
			notice(fmt.Sprintf("%v: it is left out", err))
		}
	}
}

// checkTable opens the files of a check. The plan of s then knows which columns have lists.
func checkTable(ctx context.Context, s *convert.Spec, folders input.Folders) (*parquet.Rows, error) {
	c := column.NewChecker(s.Columns, s.LabelRule, true)
	rows, err := parquet.OpenRows(ctx, s.Files, folders, s.Limits, func(name string) parquet.Need {
		switch at := slices.Index(s.Columns.Inputs, name); {
		case at >= 0 && c.Reads(at):
			return parquet.Numbers
		case at >= 0 || name == s.Split.By:
			return parquet.Texts
		}
		return parquet.Shown
	})
	if err != nil {
		return nil, err
	}
	for i, name := range rows.Names {
		if at := slices.Index(s.Columns.Inputs, name); at >= 0 && rows.Lists[i] {
			s.Columns.TakeList(at)
		}
	}
	return rows, nil
}

// readTable looks at the records of files.
func (p *pass) readTable(ctx context.Context, files []string, rows *parquet.Rows) error {
	r := p.rows()
	for i := range p.found {
		p.found[i] = true // the schema has it
	}
	r.file = -1
	var line []byte // of the texts of a record, each behind those before
	err := rows.Each(ctx, 0, rows.Records(), func(row *parquet.Row) error {
		if row.File != r.file {
			if r.file >= 0 {
				r.flush()
			}
			r.open(row.File, files[row.File])
		}
		if !r.next() {
			return nil
		}
		line = line[:0]
		for i := range p.width {
			c, from := &row.Cells[i], len(r.texts)
			if len(c.Text) > 0 {
				r.value(i, c.Text)
			}
			for _, text := range c.Texts {
				r.value(i, text)
			}
			if r.worker.check != nil {
				line = append(append(line, 0), r.texts[from:]...)
			}
		}
		if c := r.worker.check; c != nil {
			c.takeRow(row)
		}
		return r.end(line, nil)
	})
	if r.file >= 0 {
		r.flush()
	}
	return err
}

// takeRow makes the cells of a record of those that a row has: ids and their values in a list are one text.
func (c *checker) takeRow(row *parquet.Row) {
	for i, at := range c.at {
		c.cells[i] = row.Cells[at]
		if form := column.FormOf(c.plan, i, false); form == column.AsIDs || form == column.AsValues {
			if all := row.Cells[at].Texts; len(all) > 0 {
				c.cells[i] = column.Cell{Text: bytes.Join(all, []byte{' '})}
			}
		}
	}
}

// tableCat prints the records of files that have columns of names and types.
type tableCat struct {
	*parquet.Rows
	ctx context.Context
	to  *printer
}

func (t tableCat) Facts() input.Facts { return input.Facts{Records: t.Records()} }

func (t tableCat) Append(_ *input.Batch, records ...int) error {
	return t.Each(t.ctx, records[0], records[0]+1, func(row *parquet.Row) error {
		for i, c := range row.Cells {
			if len(c.Texts) == 0 {
				t.to.cell(i, c.Text)
			} else {
				t.to.cell(i, c.Texts...)
			}
		}
		return nil
	})
}

// catTable returns the records of files that have columns of names and types, which print themselves.
func catTable(ctx context.Context, s convert.Spec, folders input.Folders, to *printer) (input.Dataset, error) {
	rows, err := parquet.OpenRows(ctx, s.Files, folders, s.Limits, shown)
	if err != nil {
		return nil, err
	}
	tellUnread(rows, s.Notice)
	to.name(rows.Names)
	return tableCat{rows, ctx, to}, nil
}
