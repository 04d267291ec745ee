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
	"ringtrain/ring/exitcode"
)

// lookExamples looks at tf.Examples: of ids with values, of a dense list, or of columns.
func (t *Table) lookExamples(ctx context.Context, o Options, first []byte) error {
	features, err := tfrecord.Describe(o.files[0], first)
	if err != nil {
		return err
	}
	names := make([]string, len(features))
	for i, f := range features {
		names[i] = f.Name
	}
	at, err := findLabel(names, o.Label)
	if err != nil {
		return err
	}
	rest := slices.Delete(slices.Clone(features), at, at+1)
	isList := func(floats bool) func(f tfrecord.Feature) bool {
		return func(f tfrecord.Feature) bool { return f.Most > 1 && f.Floats == floats && !f.Texts }
	}
	values, ids := slices.IndexFunc(rest, isList(true)), slices.IndexFunc(rest, isList(false))
	switch {
	case len(rest) == 1 && values == 0:
		t.Origin.Label, t.Origin.Values = names[at], rest[0].Name
		return t.lookRecords(ctx, o, true)
	case len(rest) == 2 && values >= 0 && ids >= 0:
		t.Origin.Label, t.Origin.IDs, t.Origin.Values = names[at], rest[ids].Name, rest[values].Name
		return t.lookRecords(ctx, o, false)
	}
	p := newPass(string(t.Origin.Format), dialect{separator: ',', names: names})
	for _, name := range o.files {
		if err := p.readExamples(ctx, name, o.Limits); err != nil {
			return err
		}
	}
	for i, f := range features {
		if f.Most > 1 && i != at {
			p.lists[i] = true
		}
	}
	return t.describe(p, at, o.Keys)
}

// recordsOfPart is how many examples are looked at before they are put to those before.
const recordsOfPart = 4096

// numbered are the places of the records of a file: their numbers from 0.
type numbered struct {
	file string
	from int64
}

func (n numbered) Place(k int) (file string, record int64) { return n.file, n.from + int64(k) }

// readExamples looks at the records of a file, one after the other.
func (p *pass) readExamples(ctx context.Context, file string, limits input.Limits) error {
	f, err := input.OpenFile(ctx, file, limits)
	if err != nil {
		return err
	}
	defer f.Close()
	place := make(map[string]int, len(p.names))
	for i, n := range p.names {
		place[n] = i
	}
	r, w := tfrecord.NewReader(f, file), &p.workers[0]
	filled := make([]bool, len(p.names))
	for from, ended := int64(0), false; !ended; from += recordsOfPart {
		p.begin(w)
		at := numbered{file, from}
		for k := range recordsOfPart {
			example, err := r.Next()
			if ended = err == io.EOF; ended {
				break
			}
			if err != nil {
				return err
			}
			clear(filled)
			err = tfrecord.EachValue(example, func(name, value []byte) {
				if i, known := place[string(name)]; known {
					filled[i] = true
					r := read(value)
					w.add(i, &r, at, k)
				}
			})
			if err != nil {
				return exitcode.With(exitcode.BadData, fmt.Errorf("%s: record %d: %w", file, from+int64(k), err))
			}
			w.records++
			for i, has := range filled {
				if !has {
					w.columns[i].tally.missing[0]++
				}
			}
		}
		p.end(w)
		p.put(w)
	}
	return nil
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
