package look

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/input/parquet"
	"ringtrain/input/tfrecord"
)

// Written returns how the first records of files write the texts of columns. Of files that cannot be read, and of columns in
// folders, it returns nothing.
func Written(ctx context.Context, s *convert.Spec, columns []string) map[string]column.Writing {
	all := map[string]column.Writing{}
	for _, name := range columns {
		all[name] = column.Writing{}
	}
	add := func(name string, text []byte) {
		if s.Trim {
			text = column.Trimmed(text)
		}
		if w := all[name]; w != nil {
			w.Add(string(text))
		}
	}
	if f, _ := convert.FormatOf(s.Format); len(all) == 0 || !f.HasColumns() {
		return nil
	} else if f.IsTable() {
		eachOfTable(ctx, s, all, add)
	} else {
		eachOfHead(ctx, s, f, add)
	}
	return all
}

// eachOfTable calls visit with cells of the first records of files whose columns have types.
func eachOfTable(ctx context.Context, s *convert.Spec, of map[string]column.Writing, visit func(name string, text []byte)) {
	rows, err := parquet.OpenRows(ctx, s.Files, input.Folders{}, s.Limits, func(name string) parquet.Need {
		if of[name] == nil {
			return parquet.Unread
		}
		return parquet.Texts
	})
	if err != nil {
		return
	}
	defer rows.Close()
	rows.Each(ctx, 0, min(rows.Records(), mostLines), func(row *parquet.Row) error {
		for i, c := range row.Cells {
			visit(rows.Names[i], c.Text)
		}
		return nil
	})
}

// eachOfHead calls visit with cells of the first records of text or of TFRecords.
func eachOfHead(ctx context.Context, s *convert.Spec, f convert.Format, visit func(name string, text []byte)) {
	b, err := head(ctx, s.Files, s.Limits)
	d, bad := checkDialect(ctx, s, f, input.Folders{})
	if errors.Join(err, bad) != nil {
		return
	}
	if !f.IsText() {
		r := tfrecord.NewReader(bytes.NewReader(b.content), b.name)
		for range mostLines {
			example, err := r.Next()
			if err != nil || tfrecord.EachValue(example, func(name, value []byte) { visit(string(name), value) }) != nil {
				return
			}
		}
		return
	}
	rows := cut(b.content, b.whole, d.separator, d.trim)
	if d.header {
		rows = slices.Delete(rows, 0, min(1, len(rows)))
	}
	for _, row := range rows {
		for i := range min(len(row), len(d.names)) {
			visit(d.names[i], []byte(row[i]))
		}
	}
}
