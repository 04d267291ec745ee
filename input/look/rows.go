package look

import (
	"errors"
	"slices"

	"ringtrain/input"
)

// rowReader looks at records one after the other. Their cells are no text between separators, and a column may have
// several values in a record.
type rowReader struct {
	*pass
	*worker
	number int      // of the record in all files
	file   int      // of the record
	first  numbered // places of the part
	k      int      // of the record, in the part
	texts  []byte   // of the values of a record
	values []rowValue
	more   reading // of a value of a list behind the first
}

// rowValue is a value of a column: a range of texts. Those of a column follow one another.
type rowValue struct {
	column, from, to int
	first            bool // of the column
}

// recordsOfPart is how many records are looked at before they are put to those before.
const recordsOfPart = 4096

// numbered are the places of the records of a file: their numbers from 0.
type numbered struct {
	file string
	from int64
}

func (n numbered) Place(k int) (file string, record int64) { return n.file, n.from + int64(k) }

// rows returns the reader of the pass.
func (p *pass) rows() rowReader {
	p.found = make([]bool, len(p.names))
	for i := range p.folders.Names {
		p.found[p.width+i] = true
	}
	return rowReader{pass: p, worker: &p.workers[0], number: -1}
}

// foundNames returns the names of the columns that a record has.
func (p *pass) foundNames() (names []string) {
	for i, name := range p.names {
		if p.found[i] {
			names = append(names, name)
		}
	}
	return names
}

// open begins a file.
func (r *rowReader) open(number int, file string) {
	r.file, r.first, r.k = number, numbered{file, 0}, -1
	r.pass.begin(r.worker)
}

// flush ends a part.
func (r *rowReader) flush() {
	r.pass.end(r.worker)
	r.put(r.worker)
}

// next begins the next record of the file, and reports whether the pass has it.
func (r *rowReader) next() bool {
	r.number++
	if r.k++; r.k == recordsOfPart {
		r.flush()
		r.first.from, r.k = r.first.from+recordsOfPart, 0
		r.pass.begin(r.worker)
	}
	r.texts, r.values = r.texts[:0], r.values[:0]
	return r.held.has(r.number)
}

// value adds a value of a column to the record.
func (r *rowReader) value(column int, value []byte) {
	r.found[column] = true
	from, first := len(r.texts), len(r.values) == 0 || r.values[len(r.values)-1].column != column
	r.texts = append(r.texts, value...)
	r.values = append(r.values, rowValue{column, from, len(r.texts), first})
	r.texts = append(r.texts, '\n') // ends a number
}

// end counts the record, which is bad if err is not nil. whole is all that tells it from others. Of a check its cells are
// there, but for those of folders. An error is one of the whole file.
func (r *rowReader) end(whole []byte, err error) error {
	for i := range r.folders.Names {
		at := r.width + i
		if slices.ContainsFunc(r.values, func(v rowValue) bool { return v.column == at }) {
			return r.folders.Twice(i)
		}
		r.value(at, r.folders.Cell(i, r.file))
	}
	if err != nil {
		if errors.Is(err, input.ErrFile) {
			return err
		}
		r.addBad(err, &r.first, r.k)
		return nil
	}
	clear(r.cells)
	for _, v := range r.values {
		if v.first {
			r.cells[v.column].read(r.texts[v.from:v.to])
		}
	}
	if c := r.worker.check; c != nil && !r.checked(c, whole) {
		return nil
	}
	r.worker.records++
	for _, v := range r.values {
		cell := &r.cells[v.column]
		if cell.text == nil {
			continue // a check knows its word as missing
		}
		if !v.first {
			r.more.read(r.texts[v.from:v.to])
			cell = &r.more
		}
		r.worker.add(v.column, cell, &r.first, r.k)
	}
	for i := range r.cells {
		if r.cells[i].text == nil {
			r.columns[i].tally.missing[0]++
		}
	}
	return nil
}

// checked has a check look at the record. It returns false if the record counts nowhere else.
func (r *rowReader) checked(c *checker, whole []byte) bool {
	for i, at := range c.at {
		if at >= r.width {
			c.cells[i].Text = r.folders.Cell(at-r.width, r.file)
		}
	}
	return c.record(r.cells, r.pass.whole(r.worker, whole), &r.first, r.k)
}
