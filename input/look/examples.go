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
	if err := p.readExamples(ctx, o.files, o.Limits); err != nil {
		return err
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

// exampleReader looks at examples, one after the other.
type exampleReader struct {
	*pass
	*worker
	row   tfrecord.Row   // of a check: the features of its plan
	place map[string]int // of a feature: its column

	number int    // of the record in all files
	texts  []byte // of the values of a record
	values []exampleValue
}

// exampleValue is a value of a column: a range of texts.
type exampleValue struct{ column, from, to int }

// readExamples looks at the records of files.
func (p *pass) readExamples(ctx context.Context, files []string, limits input.Limits) error {
	e := &exampleReader{pass: p, worker: &p.workers[0], place: make(map[string]int, len(p.names)), number: -1}
	for i, n := range p.names {
		e.place[n] = i
	}
	p.found = make([]bool, len(p.names))
	if c := e.worker.check; c != nil {
		e.row = tfrecord.NewRow(c.plan.Inputs)
		c.cells = e.row.Cells
	}
	for _, file := range files {
		if err := e.read(ctx, file, limits); err != nil {
			return err
		}
	}
	return nil
}

// foundNames returns the names of the features that a record has.
func (p *pass) foundNames() (names []string) {
	for i, name := range p.names {
		if p.found[i] {
			names = append(names, name)
		}
	}
	return names
}

// read looks at the records of a file.
func (e *exampleReader) read(ctx context.Context, file string, limits input.Limits) error {
	f, err := input.OpenFile(ctx, file, limits)
	if err != nil {
		return err
	}
	defer f.Close()
	r := tfrecord.NewReader(f, file)
	for from, ended := int64(0), false; !ended; from += recordsOfPart {
		e.pass.begin(e.worker)
		at := numbered{file, from}
		for k := range recordsOfPart {
			example, err := r.Next()
			if ended = err == io.EOF; ended {
				break
			}
			if err != nil {
				return err
			}
			if e.number++; !e.held.has(e.number) {
				continue
			}
			if err := e.cut(example); err != nil {
				e.addBad(err, at, k)
				continue
			}
			e.example(example, at, k)
		}
		e.end(e.worker)
		e.put(e.worker)
	}
	return nil
}

// cut puts the values of an example into e: into cells the first of each column.
func (e *exampleReader) cut(example []byte) error {
	e.texts, e.values = e.texts[:0], e.values[:0]
	err := tfrecord.EachValue(example, func(name, value []byte) {
		if i, known := e.place[string(name)]; known {
			e.found[i] = true
			from := len(e.texts)
			e.texts = append(e.texts, value...)
			e.values = append(e.values, exampleValue{i, from, len(e.texts)})
		}
	})
	if err == nil && e.worker.check != nil {
		err = e.row.Fill(example)
	}
	clear(e.cells)
	for _, v := range slices.Backward(e.values) {
		e.cells[v.column].read(e.texts[v.from:v.to])
	}
	return err
}

// example counts the record that was cut last, record k of a part.
func (e *exampleReader) example(example []byte, at places, k int) {
	if c := e.worker.check; c != nil && !c.record(e.cells, example, at, k) {
		return
	}
	e.worker.records++
	for _, v := range e.values {
		if e.cells[v.column].text == nil {
			continue // a check knows its word as missing
		}
		var r reading
		r.read(e.texts[v.from:v.to])
		e.worker.add(v.column, &r, at, k)
	}
	for i := range e.cells {
		if e.cells[i].text == nil {
			e.columns[i].tally.missing[0]++
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
