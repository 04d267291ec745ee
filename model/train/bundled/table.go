package bundled

import (
	"context"
	"fmt"
	"io"
	"slices"

	"ringtrain/export/ask"
	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/convert"
	"ringtrain/input/look"
	"ringtrain/input/parquet"
	"ringtrain/model/train/report"
	"ringtrain/ring/phrase"
)

// table reads CSV with a header.
func (r *reader) table(content io.Reader) error {
	t, err := ask.NewTable(content, input.Partitions(r.name), r.inputs, r.columns)
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return r.bad("line", 1, err)
	}
	label, err := r.labelIn(t)
	if err != nil {
		return r.bad("line", 1, err)
	}
	for {
		inputs, err := t.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = r.add(inputs, label())
		}
		if err != nil {
			return r.bad("line", t.Line, err)
		}
	}
}

// labelIn returns a function that returns the label of the record of a table that was read last, or nothing if no label is
// asked for.
func (r *reader) labelIn(t *ask.Table) (func() string, error) {
	label := slices.Index(t.Header, r.columns.Label.Name)
	if r.labels && label < 0 {
		return nil, fmt.Errorf("no column %s%s", phrase.Name(r.columns.Label.Name), phrase.DidYouMean(r.columns.Label.Name, t.Header))
	}
	return func() string {
		if !r.labels {
			return ""
		}
		return t.Cells[label]
	}, nil
}

// rows reads a file that has columns of names and types.
func (r *reader) rows(ctx context.Context) error {
	takes := ask.Takes(r.inputs)
	rows, err := parquet.OpenRows(ctx, []string{r.name}, input.Folders{}, input.Limits{}, func(name string) parquet.Need {
		switch taken, asNumbers := takes(name); {
		case asNumbers:
			return parquet.Numbers
		case taken:
			return parquet.Texts
		}
		return parquet.Shown
	})
	if err != nil {
		return err
	}
	defer rows.Close()
	t, err := ask.NewTableOf(rows.Names, input.Partitions(r.name), r.inputs, r.columns)
	if err != nil {
		return r.bad("record", 0, err)
	}
	label, err := r.labelIn(t)
	if err != nil {
		return r.bad("record", 0, err)
	}
	return rows.Each(ctx, 0, rows.Records(), func(row *parquet.Row) error {
		cells, lists := make([]string, len(row.Cells)), map[int][]string{}
		for i, c := range row.Cells {
			cells[i] = string(c.Text)
			for _, text := range c.Texts {
				lists[i] = append(lists[i], string(text))
			}
		}
		inputs, err := t.Inputs(cells, lists)
		if err == nil {
			err = r.add(inputs, label())
		}
		if err != nil {
			return r.bad("record", row.Record, err)
		}
		return nil
	})
}

// compareTexts warns of columns whose texts a file writes as no training record did.
func (b *Bundle) compareTexts(ctx context.Context, name string) {
	var columns []string
	for _, bag := range b.columns.Bags {
		if len(bag.Written) > 0 {
			columns = append(columns, bag.Name)
		}
	}
	how, err := look.OfFiles(ctx, convert.Origin{Files: []string{name}}, input.Limits{})
	if err != nil || len(columns) == 0 {
		return
	}
	all := look.Written(ctx, &convert.Spec{Origin: how, Columns: &column.Plan{}}, columns)
	for _, bag := range b.columns.Bags {
		if what, fix := all[bag.Name].Differ(bag.Written); what != "" {
			b.Warnings = append(b.Warnings, report.Warning{Operation: "input", Set: name, Column: bag.Name, Cause: fmt.Sprintf("%s: %s %s: write %s", name, bag.Name, what, fix)})
		}
	}
}
