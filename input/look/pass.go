package look

import (
	"context"
	"fmt"
	"slices"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/csvfile"
	"ringtrain/input/text"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

const (
	mostDistinct = 100_000   // values of a column that are told apart, of
	mostHashes   = 4_000_000 // in all columns
	logEvery     = 16        // the logarithm of one number of so many is looked at
	mostBadLines = 3         // examples that are kept
	mostTexts    = 64        // texts of a part that may be odd
)

// worker is the memory of the part in one slot.
type worker struct {
	fields  *csvfile.Fields
	dater   dater
	columns []part
	cells   []reading // of a record
	bytes   []byte    // that tell a record from others
	records int64
	bad     []Odd // lines that are no record: the reason in place of the text
	badAll  int64
	check   *checker // nil: of init
}

// pass reads records once.
type pass struct {
	dialect     // its names are those of the files' columns, then those of folders
	width   int // columns of the files
	folders input.Folders
	format  string
	values  []values
	workers []worker // by slot
	total   []tally
	lists   []bool // columns with several values in a record
	found   []bool // of examples: features that a record has
	check   *checker
	held    heldOut
	records int64
	bad     []Odd
	badAll  int64
}

// newPass returns a pass over the columns of files, which d names, and of their folders.
func newPass(format string, d dialect, folders input.Folders) (*pass, error) {
	for k, name := range folders.Names {
		if slices.Contains(d.names, name) {
			return nil, folders.Twice(k)
		}
	}
	width := len(d.names)
	d.names = slices.Concat(d.names, folders.Names)
	n := len(d.names)
	p := &pass{dialect: d, width: width, folders: folders, format: format, values: make([]values, n), workers: make([]worker, text.Slots()), total: make([]tally, n), lists: make([]bool, n)}
	for i := range p.values {
		p.values[i].hashes.limit = max(1, min(mostDistinct, mostHashes/n))
	}
	for i := range p.workers {
		w := &p.workers[i]
		w.fields, w.dater.all, w.columns, w.cells = csvfile.NewFields(d.separator, d.noQuotes, d.trim, width), layouts(), make([]part, n), make([]reading, n)
	}
	return p, nil
}

// run reads the files.
func (p *pass) run(ctx context.Context, files []string, limits input.Limits) error {
	c := text.Config{Format: p.format, Separator: p.separator, Header: p.header, Trim: p.trim, Limits: limits}
	if !p.noQuotes {
		c.Quote = '"'
	}
	return text.EachPart(ctx, files, c, p.work, p.done)
}

// work looks at the cells of a part.
func (p *pass) work(t *text.Part) error {
	w := &p.workers[t.Slot]
	p.begin(w)
	for k := range t.Len() {
		number := t.Number(k)
		isHeader := number < 0
		if !isHeader && !p.held.has(number) {
			continue
		}
		fields, err := w.fieldsOf(t, k)
		switch {
		case isHeader && err == nil:
			err = p.checkHeader(fields)
		case err == nil && len(fields) != p.width:
			err = fmt.Errorf("has %s, want %d", phrase.Count(len(fields), "field"), p.width)
		}
		for at := range p.folders.Names {
			fields = append(fields, p.folders.Cell(at, t.FileNumber()))
		}
		switch {
		case isHeader && err != nil:
			return t.Fault(p.format, k, err)
		case isHeader:
		case err != nil:
			w.addBad(err, t, k)
		case w.check == nil:
			w.records++
			for i, cell := range fields {
				var r reading
				r.read(cell)
				w.add(i, &r, t, k)
			}
		default:
			for i, cell := range fields {
				if w.columns[i].reads == texts {
					w.cells[i].readText(cell)
				} else {
					w.cells[i].read(cell)
				}
			}
			line, _ := t.Line(k)
			w.check.fill(w.cells)
			if !w.check.record(w.cells, p.whole(w, line), t, k) {
				continue
			}
			w.records++
			for i := range w.cells {
				w.add(i, &w.cells[i], t, k)
			}
		}
	}
	p.end(w)
	return nil
}

// whole returns all of a record that tells it from others: its line, and the cells of folders.
func (p *pass) whole(w *worker, line []byte) []byte {
	if len(p.folders.Names) == 0 {
		return line
	}
	w.bytes = append(w.bytes[:0], line...)
	for i := range p.folders.Names {
		w.bytes = append(append(w.bytes, 0), w.cells[p.width+i].cell...)
	}
	return w.bytes
}

// addBad counts a record k of a part that is none.
func (w *worker) addBad(err error, at places, k int) {
	w.badAll++
	if len(w.bad) < mostBadLines {
		file, line := at.Place(k)
		w.bad = append(w.bad, Odd{Text: err.Error(), File: file, Line: line, Records: 1})
	}
}

// begin has w begin a part.
func (p *pass) begin(w *worker) {
	w.records, w.bad, w.badAll = 0, w.bad[:0], 0
	if w.check != nil {
		w.check.reset()
	}
	for i := range w.columns {
		c := &w.columns[i]
		c.tally.reset()
		c.begin(&p.values[i])
	}
}

// end adds the values of w's part to those of all.
func (p *pass) end(w *worker) {
	for i := range w.columns {
		w.columns[i].tally.end()
		p.values[i].take(&w.columns[i], min(mostWaiting, allWaiting/len(p.values)), false)
	}
}

// finish adds what the slots have counted.
func (p *pass) finish() {
	for i := range p.workers {
		for c := range p.values {
			p.values[c].take(&p.workers[i].columns[c], 0, true)
		}
	}
}

// fieldsOf cuts the line of record k.
func (w *worker) fieldsOf(t *text.Part, k int) ([][]byte, error) {
	line, err := t.Line(k)
	if err != nil {
		return nil, err
	}
	return w.fields.Split(line)
}

// places says where the records of a part stand.
type places interface {
	Place(k int) (file string, line int64)
}

// add takes a cell of record k of a part.
func (w *worker) add(column int, r *reading, at places, k int) {
	c := &w.columns[column]
	isOdd := len(r.text) > 0
	if c.reads == texts {
		c.tally.plainText(r.text)
	} else {
		isOdd = c.tally.add(r, &w.dater, k%logEvery == 0)
	}
	if len(r.text) > 0 {
		c.add(r.text)
	}
	if !isOdd {
		return
	}
	if len(r.text) < len(r.cell) {
		c.tally.padded++
	}
	if f := &c.tally.foreign; f.Records == 1 && f.File == "" {
		f.Text = phrase.Clip(string(r.text), mostValue)
		f.File, f.Line = at.Place(k)
	}
	if c.tally.texts > mostTexts {
		return // a column of texts
	}
	odd := c.tally.odd
	for i := range odd {
		if odd[i].Text == string(r.text) {
			odd[i].Records++
			return
		}
	}
	if len(odd) < mostOdd {
		file, line := at.Place(k)
		c.tally.odd = append(odd, Odd{Text: phrase.Clip(string(r.text), mostValue), File: file, Line: line, Records: 1})
	}
}

// done puts a part behind those before.
func (p *pass) done(t *text.Part) error {
	p.put(&p.workers[t.Slot])
	return nil
}

// put puts what w has behind what there is.
func (p *pass) put(w *worker) {
	for i := range p.total {
		p.total[i].merge(&w.columns[i].tally)
	}
	p.records += w.records
	if w.check != nil {
		p.check.merge(w.check)
	}
	p.badAll += w.badAll
	for _, b := range w.bad {
		if len(p.bad) < mostBadLines {
			p.bad = append(p.bad, b)
		}
	}
}

// checkHeader refuses the header of a file that is not that of the first one.
func (p *pass) checkHeader(fields [][]byte) error {
	same := func(name []byte, want string) bool {
		return string(name) == want || p.trim && string(column.Trimmed(name)) == want
	}
	if !slices.EqualFunc(fields, p.names[:p.width], same) {
		return exitcode.With(exitcode.BadData, fmt.Errorf("the header is %.200q, want %.200q as in the first file", fields, p.names[:p.width]))
	}
	return nil
}
