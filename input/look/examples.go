package look

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/tfrecord"
)

// lookExamples looks at tf.Examples: of ids with values, of a dense list, or of columns.
func (t *Table) lookExamples(ctx context.Context, o Options, b beginning) error {
	features, err := tfrecord.Describe(b.name, b.content)
	if err != nil {
		return err
	}
	names := make([]string, len(features))
	for i, f := range features {
		names[i] = f.Name
	}
	at, err := findLabel(slices.Concat(names, o.folders.Names), o.Label)
	if err != nil {
		return err
	}
	rest := slices.DeleteFunc(slices.Clone(features), func(f tfrecord.Feature) bool { return at < len(names) && f.Name == names[at] })
	isList := func(floats bool) func(f tfrecord.Feature) bool {
		return func(f tfrecord.Feature) bool { return f.Most > 1 && f.Floats == floats && !f.Texts }
	}
	values, ids := slices.IndexFunc(rest, isList(true)), slices.IndexFunc(rest, isList(false))
	switch {
	case at >= len(names): // folders are columns
	case len(rest) == 1 && values == 0:
		t.Origin.Label, t.Origin.Values = names[at], rest[0].Name
		return t.lookRecords(ctx, o, true)
	case len(rest) == 2 && values >= 0 && ids >= 0:
		t.Origin.Label, t.Origin.IDs, t.Origin.Values = names[at], rest[ids].Name, rest[values].Name
		return t.lookRecords(ctx, o, false)
	}
	p, err := newPass(string(t.Origin.Format), dialect{separator: ',', names: names}, o.folders)
	if err != nil {
		return inFile(o.files[0], err)
	}
	if err := p.readExamples(ctx, o.files, o.Limits); err != nil {
		return err
	}
	for i, f := range features {
		if f.Most > 1 && i != at {
			p.lists[i] = true
		}
	}
	return t.describe(p, at, o)
}

// exampleReader looks at examples.
type exampleReader struct {
	rowReader
	row   tfrecord.Row   // of a check: the features of its plan
	place map[string]int // of a feature: its column
}

// readExamples looks at the records of files.
func (p *pass) readExamples(ctx context.Context, files []string, limits input.Limits) error {
	e := &exampleReader{rowReader: p.rows(), place: make(map[string]int, len(p.names))}
	for i, n := range p.names {
		e.place[n] = i
	}
	if c := e.worker.check; c != nil {
		e.row = tfrecord.NewRow(c.plan.Inputs)
		c.cells = e.row.Cells
	}
	for i, file := range files {
		if err := e.read(ctx, i, file, limits); err != nil {
			return err
		}
	}
	return nil
}

// read looks at the records of a file.
func (e *exampleReader) read(ctx context.Context, number int, file string, limits input.Limits) error {
	f, err := input.OpenFile(ctx, file, limits)
	if err != nil {
		return err
	}
	defer f.Close()
	e.open(number, file)
	for r := tfrecord.NewReader(f, file); ; {
		example, err := r.Next()
		if err == io.EOF {
			e.flush()
			return nil
		}
		if err != nil {
			return err
		}
		if !e.next() {
			continue
		}
		err = tfrecord.EachValue(example, func(name, value []byte) {
			if i, known := e.place[string(name)]; known {
				e.value(i, value)
			}
		})
		if err == nil && e.worker.check != nil {
			err = e.row.Fill(example)
		}
		if err := e.end(example, err); err != nil {
			return inFile(file, err)
		}
	}
}

// list is what becomes of a feature that has several values in a record.
func list(c *Column) string {
	if !c.isList || c.content == texts {
		return ""
	}
	if c.areIDs() {
		return fmt.Sprintf("ids 0 to %.12g", c.tally.max)
	}
	return "several values in a record"
}

// areIDs reports whether all values of a list may be ids.
func (c *Column) areIDs() bool {
	return c.content == numbers && c.tally.integers == c.tally.numbers && c.tally.min >= 0 && c.tally.max < math.MaxInt32
}

func listItem(c *Column, names []string) column.Column {
	if c.areIDs() {
		return column.Column{IDs: &column.IDsOptions{Names: names, Size: int(c.tally.max) + 1}}
	}
	return ignore(c, names)
}
