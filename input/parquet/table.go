package parquet

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"ringtrain/input"
	"ringtrain/input/column"
	"ringtrain/input/internal/blockcache"
	"ringtrain/ring/exitcode"
)

// table reads some columns of files, one file behind the other, in blocks of as many records.
type table struct {
	files  []*File
	firsts []int // number of the first record of each file
	wanted []wanted
	size   int // records of a block
	count  int // of all files

	mu      sync.Mutex   // of the cursors, which go forward
	cursors []reading    // of each column
	next    atomic.Int64 // block that the cursors are at
	loaded  *blockcache.Cache[block]
	records *blockcache.Records[block]
}

// wanted is a column that is read.
type wanted struct {
	name string
	form column.Form
	need Need      // of rows
	in   []*Column // of each file; nil: it lacks the column
	same [][]byte  // of each file: the cell of all its records, where folders name the column
}

// block has the values of some records: a vector for each column.
type block []vector

// reading is a cursor, and where it is.
type reading struct {
	cursor
	file, group int
	open        *os.File
}

// blockCells is about how many cells a block has: parsed they take as much memory as a block of text.
const blockCells = input.BlockBytes / 4

// newTable returns a table of files. maxBytes bounds the blocks that are kept.
func newTable(files []*File, columns []wanted, maxBytes int64) *table {
	t := &table{files: files, wanted: columns, size: max(min(blockCells/max(len(columns), 1), 1<<16-1), 1), cursors: make([]reading, len(columns))}
	for _, f := range files {
		t.firsts = append(t.firsts, t.count)
		t.count += f.Records()
	}
	t.loaded = blockcache.New(maxBytes, t.load)
	t.records = blockcache.NewRecords(t.loaded, t, func(*block, []blockcache.Location) byte { return 0 })
	return t
}

// Find returns the block of a record, and its place there.
func (t *table) Find(record int) (block, place int) { return record / t.size, record % t.size }

// Count returns the number of records of a block.
func (t *table) Count(block int) int { return min(t.size, t.count-block*t.size) }

// blocks returns the number of blocks.
func (t *table) blocks() int { return (t.count + t.size - 1) / t.size }

// fileOf returns the number of the file of a record.
func (t *table) fileOf(record int) int {
	return sort.Search(len(t.firsts), func(k int) bool { return t.firsts[k] > record }) - 1
}

// place names the file and the number of a record in it.
func (t *table) place(record int) string {
	k := t.fileOf(record)
	return t.files[k].Place(record - t.firsts[k])
}

// fault is the error of a record.
func (t *table) fault(record int, err error) error {
	return exitcode.With(exitcode.BadData, fmt.Errorf("parquet: %s: %w", t.place(record), err))
}

// maxAhead is how many blocks before one that is asked for are read and kept. Readers side by side ask for them, too:
// without them the cursors would have to go back, to the first page of the row group.
const maxAhead = 64

// load reads a block. One call at a time reads: its columns are read side by side.
func (t *table) load(key int, into *block) (int64, error) {
	for at := int(t.next.Load()); at < key && key-at <= maxAhead; at++ {
		before, err := t.loaded.Get(at)
		if err != nil {
			return 0, err
		}
		t.loaded.Put(before)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next.Store(int64(key) + 1)
	if *into == nil {
		*into = make(block, len(t.wanted))
	}
	first := key * t.size
	err := input.SideBySide(context.Background(), len(t.wanted), runtime.GOMAXPROCS(0), func(_, i int) error {
		return t.loadColumn(&(*into)[i], i, first, first+t.Count(key))
	})
	bytes := int64(0)
	for i := range *into {
		bytes += (*into)[i].bytes()
	}
	return bytes, err
}

// loadColumn reads records [from, to) of a column.
func (t *table) loadColumn(v *vector, i, from, to int) error {
	w := &t.wanted[i]
	v.form, v.ragged = w.form, w.ragged()
	v.reset()
	for k := t.fileOf(from); from < to; k++ {
		n := min(t.firsts[k]+t.files[k].Records(), to) - from
		if err := t.cursors[i].read(t.files[k], w, k, int64(from-t.firsts[k]), v, n); err != nil {
			t.cursors[i].close()
			return t.files[k].fault(err)
		}
		from += n
	}
	if v.ragged {
		v.start(1, v.len())
	}
	return nil
}

// ragged reports whether records may have several values, or none.
func (w *wanted) ragged() bool {
	return w.form == column.AsIDs || w.form == column.AsValues || w.lists()
}

// lists reports whether a file has lists.
func (w *wanted) lists() bool {
	return slices.ContainsFunc(w.in, func(c *Column) bool { return c != nil && c.List })
}

// read appends n records of file f, which has number k, from a record on.
func (r *reading) read(f *File, w *wanted, k int, from int64, v *vector, n int) error {
	switch c := w.in[k]; {
	case w.same != nil:
		for range n {
			v.texts = append(v.texts, w.same[k])
		}
		return nil
	case c == nil && v.ragged:
		v.start(n, v.len())
		return nil
	case c == nil:
		v.missing(n)
		return nil
	}
	for g, first := 0, int64(0); n > 0; g++ {
		group := &f.footer.groups[g]
		if in := from - first; in < group.rows {
			if err := r.seek(f, w, k, g, in); err != nil {
				return fmt.Errorf("column %s, row group %d: %w", w.name, g, err)
			}
			some := int(min(group.rows-in, int64(n)))
			if err := r.cursor.read(v, some); err != nil {
				return fmt.Errorf("column %s, row group %d, page before byte %d: %w", w.name, g, r.at, err)
			}
			n, from = n-some, from+int64(some)
		}
		first += group.rows
	}
	return nil
}

// seek brings the cursor to a record of a row group.
func (r *reading) seek(f *File, w *wanted, k, g int, record int64) error {
	if r.open == nil || r.file != k || r.group != g || r.row > record {
		if err := r.begin(f, w, k, g); err != nil {
			return err
		}
	}
	return r.skip(record - r.row)
}

// begin brings the cursor to the first record of a row group.
func (r *reading) begin(f *File, w *wanted, k, g int) error {
	c := w.in[k]
	chunk := &f.footer.groups[g].chunks[c.leaf]
	packed, err := codecOf(chunk.codec)
	switch {
	case chunk.encrypted:
		return errors.New("is encrypted, want Parquet that is not")
	case chunk.elsewhere:
		return errors.New("lies in another file, want it in the same")
	case chunk.physical != c.physical:
		return fmt.Errorf("has values of type %d, and the schema says %d", chunk.physical, c.physical)
	case err != nil:
		return err
	}
	if r.open == nil || r.file != k {
		r.close()
		if r.open, err = f.Open(); err != nil {
			return err
		}
	}
	r.file, r.group = k, g
	spare := r.pages
	r.cursor = cursor{form: w.form, pages: pages{file: r.open, limits: f.limits, column: c, codec: packed, at: chunk.first(), end: chunk.first() + chunk.compressed, head: spare.head, packed: spare.packed}}
	return nil
}

func (r *reading) close() {
	if r.open != nil {
		r.open.Close()
		r.open = nil
	}
}

// Close closes the files that are open.
func (t *table) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.cursors {
		t.cursors[i].close()
	}
	return nil
}
