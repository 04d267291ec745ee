package libsvm

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"ringtrain/input"
	"ringtrain/ring/exitcode"
)

// Config says how the lines are read.
type Config struct {
	Base     int // subtracted from every index: 1 for files that count from 1
	Features int // number of features; 0: one more than the largest id of the files
	Limits   input.Limits
	Labels   input.Labels
	Dense    bool // rows of Features columns, 0 where an index is absent
}

func (c Config) check() error {
	var faults []error
	if c.Base < 0 {
		faults = append(faults, fmt.Errorf("base is %d, want 0 or more", c.Base))
	}
	if c.Features < 0 {
		faults = append(faults, fmt.Errorf("features is %d, want 0 or more", c.Features))
	}
	return exitcode.With(exitcode.Usage, errors.Join(faults...))
}

// dataset is the rows of all files, in memory.
type dataset struct {
	rows
	dense    bool
	features int
	manifest []string
}

// Open reads files, all of them into memory: 8 bytes a pair and 12 a record.
//
// Errors name file and line. Codes: exitcode.NoInput, exitcode.BadData,
// exitcode.IO, and exitcode.Usage for c. An index below the base is an error
// that tells the smallest one of all files.
func Open(files []string, c Config) (input.Dataset, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p := newParser(c)
	var manifest []string
	for _, name := range files {
		before := len(p.labels)
		size, err := p.file(name)
		if err != nil {
			return nil, err
		}
		p.size += size
		manifest = append(manifest, fmt.Sprintf("%s %d %d", filepath.Base(name), size, len(p.labels)-before))
	}
	return p.dataset(manifest)
}

// dataset returns what was read, after the checks that need all of it.
func (p *parser) dataset(manifest []string) (*dataset, error) {
	if p.low.line > 0 {
		return nil, flaw(p.low.file, p.low.line, fmt.Errorf("index is %d, the smallest of all, want %d or more, as base says", p.low.index, p.config.Base))
	}
	d := &dataset{rows: p.rows, dense: p.config.Dense, features: p.config.Features, manifest: manifest}
	if d.features == 0 && len(d.ids) > 0 {
		d.features = int(slices.Max(d.ids)) + 1
		if d.dense {
			if err := p.config.Limits.Dense(len(d.labels), d.features, p.size); err != nil {
				return nil, flaw(p.high.file, p.high.line, fmt.Errorf("index is %d, the largest of all: %w", p.high.index, err))
			}
		}
	}
	if d.features == 0 && len(d.labels) > 0 {
		return nil, exitcode.With(exitcode.BadData, errors.New("libsvm: no record of any file has an index:value"))
	}
	return d, nil
}

// Len returns the number of records.
func (d *dataset) Len() int { return len(d.labels) }

// Features returns Config.Features or what was found instead.
func (d *dataset) Features() int { return d.features }

// Manifest returns a line a file.
func (d *dataset) Manifest() []string { return d.manifest }

// Close does nothing: the files were closed after they were read.
func (d *dataset) Close() error { return nil }

// InMemory is true.
func (d *dataset) InMemory() bool { return true }

// Append adds record i. It cannot fail: everything was checked by Open.
func (d *dataset) Append(b *input.Batch, i int) error {
	ids, values := d.ids[d.start[i]:d.start[i+1]], d.values[d.start[i]:d.start[i+1]]
	b.Y = append(b.Y, d.labels[i])
	if d.dense {
		row := b.DenseRow(d.features)
		clear(row)
		for k, id := range ids {
			row[id] += values[k] // a repeated index adds up, as in sparse rows
		}
		return nil
	}
	x := b.Bags(1)
	x.Slot = append(x.Slot, ids...)
	x.Weights = append(x.Weights, values...)
	x.End()
	return nil
}

// flaw is an error in a line of a file.
func flaw(name string, line int, err error) error {
	return exitcode.With(exitcode.BadData, fmt.Errorf("libsvm: %s:%d: %w", name, line, err))
}
