package look

import (
	"context"
	"fmt"
	"strings"

	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/ring/exitcode"
)

// OfFiles returns how files are read that stand in the place of a job's records with columns: by o, unless the beginning of
// the first one is that of another format. Parquet and TFRecords say so themselves, and text in their place is CSV with a
// header. Its blanks are part of its texts, as they are of the texts that the model has learnt, unless o says otherwise.
func OfFiles(ctx context.Context, o convert.Origin, limits input.Limits) (convert.Origin, error) {
	b, err := head(ctx, o.Files, limits)
	if err != nil || len(b.content) == 0 {
		return o, err
	}
	is := b.format
	was, _ := convert.FormatOf(o.Format)
	switch {
	case is.Name == was.Name, !is.HasColumns(), is.IsText() && was.IsText():
		return o, nil
	case !is.IsText():
		return convert.Origin{Format: convert.FormatName(is.Name), Files: o.Files}, nil
	}
	d := sniffDialect(b.content, b.whole)
	if !d.header {
		return o, exitcode.With(exitcode.BadData, fmt.Errorf("%s is no %s and has no header, want format %s, or CSV with a header", b.name, was.Name, was.Name))
	}
	return convert.Origin{Format: convert.FormatName(is.Name), Files: o.Files, Header: true, Separator: separatorKey(d.separator), Trim: o.Trim}, nil
}

// separatorKey is the value of the key separator.
func separatorKey(separator byte) string {
	if separator == ',' {
		return ""
	}
	return strings.ReplaceAll(string(separator), "\t", "tab")
}
