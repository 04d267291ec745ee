package tfrecord

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"sync"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// Config describes the records. Empty names mean "label", "ids" and "values", or
// "features" if Dense is set.
type Config struct {
	Label  string // feature with the label: one int64 or float
	IDs    string // sparse: int64 list
	Values string // sparse: float list as long as IDs; dense: float list
	Dense  bool

	// Features is the length of Values if Dense, else one more than the largest valid
	// id. 0 means the number in the files: the first record's length, or one more than
	// the largest id of all, which requires reading all records; ids are then below the
	// bound of Limits.
	Features int
	Limits   input.Limits

	Labels      input.Labels
	Compression string // auto (or empty), none, gzip, zlib

	Tolerate bool // Open passes over bad records

	Split input.Split // says which records are held out: nothing is learnt from them; by a feature, of OpenColumns alone
}

// withNames returns c with defaults for empty names.
func (c Config) withNames() Config {
	fill := func(name *string, or string) {
		if *name == "" {
			*name = or
		}
	}
	fill(&c.Label, "label")
	fill(&c.IDs, "ids")
	if c.Dense {
		fill(&c.Values, "features")
	}
	fill(&c.Values, "values")
	return c
}

func (c Config) check() error {
	faults := []error{checkCompression(c.Compression)}
	if c.Features < 0 {
		faults = append(faults, fmt.Errorf("features is %d, want 0 or more", c.Features))
	}
	if c.Label == c.Values || !c.Dense && (c.IDs == c.Values || c.IDs == c.Label) {
		faults = append(faults, fmt.Errorf("label is %q, ids %q, values %q, want different names", c.Label, c.IDs, c.Values))
	}
	return exitcode.With(exitcode.Usage, errors.Join(faults...))
}

// dataset has the records of a list of files, in the order of the files.
type dataset struct {
	config Config
	files  []*file
	firsts []int // index of the first record of each file
	facts  input.Facts
	ids    input.IDs

	readers sync.Pool // *scratch
}

// Open indexes files and returns their records as a data set. Append reads and parses
// records, in several goroutines if called so.
//
// When ctx ends, Open returns the cause. Errors name the file and, for a bad record, its index and its byte offset in the
// decompressed file. The codes are exitcode.NoInput, exitcode.BadData, exitcode.IO, and
// exitcode.Usage for c.
func Open(ctx context.Context, files []string, c Config) (input.Dataset, error) {
	return open(ctx, files, c)
}

func open(ctx context.Context, files []string, c Config) (*dataset, error) {
	c = c.withNames()
	if err := c.check(); err != nil {
		return nil, err
	}
	d := &dataset{config: c, facts: input.Facts{Features: c.Features}, ids: c.Limits.IDs(c.Features)}
	most := mostOpen()
	for i, name := range files {
		f, err := openFile(ctx, name, c, i < most)
		if err != nil {
			d.Close()
			return nil, err
		}
		d.files, d.firsts = append(d.files, f), append(d.firsts, d.facts.Records)
		d.facts.Records += f.records()
		d.facts.Manifest = append(d.facts.Manifest, fmt.Sprintf("%s %d", f.base(), f.records()))
	}
	d.facts.Parts = c.Split.Parts(d.facts.Records)
	d.facts.Place = d.place
	if d.facts.Features == 0 && d.facts.Records > 0 {
		if err := d.measure(ctx); err != nil {
			d.Close()
			return nil, err
		}
	}
	return d, nil
}

// measure determines the number of features from the good training records.
func (d *dataset) measure(ctx context.Context) error {
	most := int64(0)
	if d.config.Tolerate {
		most = math.MaxInt64
	}
	shape, err := input.LearnShape(ctx, d, most)
	d.facts.Features = shape.Cols
	if err != nil || d.config.Dense {
		return err
	}
	var b input.Batch
	largest := int64(-1)
	for i := range d.facts.Records {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !d.facts.Parts.Trains(i) {
			continue
		}
		b.Reset()
		if err := d.Append(&b, i); err != nil && !d.tolerates(err) {
			return err
		}
		for _, id := range b.X.Bags.Slot {
			largest = max(largest, int64(id))
		}
	}
	if largest < 0 {
		return exitcode.With(exitcode.BadData, fmt.Errorf("tfrecord: %s: no record has any %q", d.files[0].Name, d.config.IDs))
	}
	d.facts.Features = int(largest) + 1
	limits := d.config.Limits
	limits.Trained = d.config.Split.Holds()
	d.ids = limits.IDs(d.facts.Features)
	return nil
}

// place names the file and the number of a record in it.
func (d *dataset) place(i int) string {
	k := d.fileOf(i)
	return fmt.Sprintf("%s: record %d", d.files[k].Name, i-d.firsts[k])
}

// fileOf returns the place of the file of a record.
func (d *dataset) fileOf(i int) int {
	return sort.Search(len(d.firsts), func(k int) bool { return d.firsts[k] > i }) - 1
}

// tolerates reports whether Open passes over an error: it is of a record alone, and Config says so.
func (d *dataset) tolerates(err error) bool { return d.config.Tolerate && input.BadRecord(err) }

// Facts returns what is known of the records.
func (d *dataset) Facts() input.Facts { return d.facts }

// Close closes the files.
func (d *dataset) Close() error {
	var faults []error
	for _, f := range d.files {
		faults = append(faults, f.Close())
	}
	return exitcode.With(exitcode.IO, errors.Join(faults...))
}

// Append reads records, checks them and adds them to b. After an error b has the records before.
func (d *dataset) Append(b *input.Batch, records ...int) error {
	s, ok := d.readers.Get().(*scratch)
	if !ok {
		s = new(scratch)
	}
	defer d.readers.Put(s)
	for _, i := range records {
		if err := d.with(&s.frame, i, func(example []byte) error { return s.add(b, example, d) }); err != nil {
			return err
		}
	}
	return nil
}

// with calls use with the data of record i, which it reads into frame. Its errors, and those of use, name
// the record.
func (d *dataset) with(frame *[]byte, i int, use func(example []byte) error) error {
	k := d.fileOf(i)
	f, record := d.files[k], i-d.firsts[k]
	var example []byte
	var err error
	if *frame, err = f.read((*frame)[:0], record); err == nil {
		if example, err = dataOf(*frame); err == nil {
			err = use(example)
		}
	}
	if err != nil {
		return exitcode.With(exitcode.BadData, &flaw{f.Name, record, f.starts[record], err})
	}
	return nil
}
