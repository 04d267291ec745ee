package look

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"ringtrain/input"
	"ringtrain/input/csvfile"
	"ringtrain/input/text"
	"ringtrain/ring/exitcode"
	"ringtrain/ring/phrase"
)

const (
	mostValues   = 100       // values of a column that are counted one by one
	mostValue    = 100       // bytes of such a value
	mostDistinct = 100_000   // values of a column that are told apart, of
	mostHashes   = 4_000_000 // in all columns
	logEvery     = 16        // the logarithm of one number of so many is looked at
	mostBadLines = 3         // examples that are kept
	mostTexts    = 64        // texts of a part that may be odd
)

// A Value is a text of a column and the records that have it.
type Value struct {
	Text    string `json:"text"`
	Records int64  `json:"records"`
}

// values counts the values of a column, all of them.
type values struct {
	mu     sync.Mutex
	hashes distinct
	count  map[uint64]*Value
	many   atomic.Bool // there are more than mostValues, or longer ones: count has not all
}

// part is what one part of the text has of a column. Its counts are those of all parts in the slot.
type part struct {
	tally  tally
	count  map[uint64]*Value // until many
	many   bool
	hashes []uint64 // of the cells after that
}

// add counts a cell.
func (p *part) add(cell []byte) {
	h := hash(cell)
	if p.many {
		p.hashes = append(p.hashes, h)
		return
	}
	if v := p.count[h]; v != nil {
		v.Records++
		return
	}
	if len(p.count) < mostValues && len(cell) <= mostValue {
		p.count[h] = &Value{string(cell), 1}
		return
	}
	p.overflow()
	p.hashes = append(p.hashes, h)
}

// overflow makes hashes of what was counted.
func (p *part) overflow() {
	for h, v := range p.count {
		for range min(v.Records, 2) {
			p.hashes = append(p.hashes, h)
		}
	}
	p.many = true
	clear(p.count)
}

// take takes the hashes of a part, and of one that ends the counts.
func (v *values) take(p *part, last bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if p.many {
		v.many.Store(true)
	}
	for _, h := range p.hashes {
		v.hashes.add(h)
	}
	p.hashes = p.hashes[:0]
	if !last {
		return
	}
	for h, n := range p.count {
		for range min(n.Records, 2) { // twice is again
			v.hashes.add(h)
		}
		if known := v.count[h]; known != nil {
			known.Records += n.Records
		} else {
			v.count[h] = n
		}
	}
	if len(v.count) > mostValues {
		v.many.Store(true)
	}
}

// list returns the values, the most frequent first; nil if there are many.
func (v *values) list() []Value {
	if v.many.Load() {
		return nil
	}
	all := make([]Value, 0, len(v.count))
	for _, n := range v.count {
		all = append(all, *n)
	}
	slices.SortFunc(all, func(a, b Value) int {
		if a.Records != b.Records {
			return int(b.Records - a.Records)
		}
		return strings.Compare(a.Text, b.Text)
	})
	return all
}

// worker is the memory of the part in one slot.
type worker struct {
	fields  *csvfile.Fields
	dater   dater
	columns []part
	records int64
	bad     []Odd // lines that are no record: the reason in place of the text
	badAll  int64
	check   *checker // nil: of init
}

// pass reads separated text once.
type pass struct {
	dialect
	format  string
	values  []values
	workers []worker // by slot
	total   []tally
	lists   []bool // columns with several values in a record
	check   *checker
	records int64
	bad     []Odd
	badAll  int64
}

func newPass(format string, d dialect) *pass {
	n := len(d.names)
	p := &pass{dialect: d, format: format, values: make([]values, n), workers: make([]worker, text.Slots()), total: make([]tally, n), lists: make([]bool, n)}
	for i := range p.values {
		p.values[i].count = map[uint64]*Value{}
		p.values[i].hashes.limit = max(1, min(mostDistinct, mostHashes/n))
	}
	for i := range p.workers {
		w := &p.workers[i]
		w.fields, w.dater.all, w.columns = csvfile.NewFields(d.separator, d.noQuotes), layouts(), make([]part, n)
		for c := range w.columns {
			w.columns[c].count = map[uint64]*Value{}
		}
	}
	return p
}

// run reads the files.
func (p *pass) run(ctx context.Context, files []string, limits input.Limits) error {
	c := text.Config{Format: p.format, Separator: p.separator, Limits: limits}
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
		fields, err := w.fieldsOf(t, k)
		isHeader := k == 0 && t.First && p.header
		switch {
		case isHeader && err == nil:
			err = p.checkHeader(fields)
		case err == nil && len(fields) != len(p.names):
			err = fmt.Errorf("has %s, want %d", phrase.Count(len(fields), "field"), len(p.names))
		}
		switch {
		case isHeader && err != nil:
			return t.Fault(p.format, k, err)
		case isHeader:
		case err != nil:
			w.badAll++
			if len(w.bad) < mostBadLines {
				file, line := t.Place(k)
				w.bad = append(w.bad, Odd{Text: err.Error(), File: file, Line: line, Records: 1})
			}
		default:
			if w.check != nil {
				line, _ := t.Line(k)
				if !w.check.record(fields, line, t, k) {
					continue
				}
			}
			w.records++
			for i, cell := range fields {
				w.add(i, cell, t, k)
			}
		}
	}
	p.end(w)
	return nil
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
		if !c.many && p.values[i].many.Load() {
			c.overflow()
		}
	}
}

// end adds the values of w's part to those of all.
func (p *pass) end(w *worker) {
	for i := range w.columns {
		w.columns[i].tally.end()
		p.values[i].take(&w.columns[i], false)
	}
}

// finish adds what the slots have counted.
func (p *pass) finish() {
	for i := range p.workers {
		for c := range p.values {
			p.values[c].take(&p.workers[i].columns[c], true)
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

// trim takes the blanks around a cell off.
func trim(cell []byte) []byte {
	for len(cell) > 0 && (cell[0] == ' ' || cell[0] == '\t') {
		cell = cell[1:]
	}
	for n := len(cell); n > 0 && (cell[n-1] == ' ' || cell[n-1] == '\t'); n = len(cell) {
		cell = cell[:n-1]
	}
	return cell
}

// places says where the records of a part stand.
type places interface {
	Place(k int) (file string, line int64)
}

// add takes a cell of record k of a part.
func (w *worker) add(column int, cell []byte, at places, k int) {
	c := &w.columns[column]
	trimmed := trim(cell)
	isOdd := c.tally.add(trimmed, &w.dater, k%logEvery == 0)
	if len(trimmed) > 0 {
		c.add(trimmed)
	}
	if !isOdd {
		return
	}
	if len(trimmed) < len(cell) {
		c.tally.padded++
	}
	if c.tally.texts > mostTexts {
		return // a column of texts
	}
	odd := c.tally.odd
	for i := range odd {
		if odd[i].Text == string(trimmed) {
			odd[i].Records++
			return
		}
	}
	if len(odd) < mostOdd {
		file, line := at.Place(k)
		c.tally.odd = append(odd, Odd{Text: phrase.Clip(string(trimmed), mostValue), File: file, Line: line, Records: 1})
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
	same := func(name []byte, want string) bool { return string(name) == want }
	if !slices.EqualFunc(fields, p.names, same) {
		return exitcode.With(exitcode.BadData, fmt.Errorf("the header is %.200q, want %.200q as in the first file", fields, p.names))
	}
	return nil
}
