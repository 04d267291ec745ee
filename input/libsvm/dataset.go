package libsvm

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"ringtrain/input"
	"ringtrain/input/text"
	"ringtrain/ring/exitcode"
)

// Config says how the lines are read.
type Config struct {
	Base     int // subtracted from every index: 1 for files that count from 1
	Features int // number of features; 0: one more than the largest id of the training records
	Limits   input.Limits
	Labels   input.Labels
	Dense    bool        // rows of Features columns, 0 where an index is absent
	Fields   bool        // libffm: each pair is field:index:value
	Bags     int         // libffm: each field is a bag, and fields are below Bags; 0: one bag of all pairs
	Tolerate bool        // lines that are bad are no fault of Open
	Share    bool        // see text.Config; not where Open parses all records
	Split    input.Split // Features is that of the records that are not held out

	Paths []string // see text.Config
}

// format begins the messages about lines.
func (c Config) format() string {
	if c.Fields {
		return "libffm"
	}
	return "libsvm"
}

// Open counts the records of files, or with Share leaves them to CountShare. If
// Config.Features is 0 it parses all of them, to know the largest id, else those of the
// first MiB: so these lines are checked. Another bad line is an error when its record is due.
//
// Errors name file, line, record and offset. Codes: exitcode.NoInput, exitcode.BadData,
// exitcode.IO, and exitcode.Usage for c.
func Open(ctx context.Context, files []string, c Config) (*text.Set, error) {
	p, t, err := c.lines()
	if err != nil {
		return nil, err
	}
	s, err := text.Open(ctx, files, t)
	if err != nil {
		return nil, err
	}
	switch {
	case c.Features == 0:
		err = p.learn(ctx, s)
	case !c.Tolerate:
		err = s.Check(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Lines returns how lines are read from first to last, by text.EachPart. c.Features is known.
func Lines(c Config) (text.Config, error) {
	_, t, err := c.lines()
	return t, err
}

func (c Config) lines() (*parser, text.Config, error) {
	if c.Base < 0 {
		return nil, text.Config{}, exitcode.With(exitcode.Usage, fmt.Errorf("base is %d, want 0 or more", c.Base))
	}
	p := &parser{config: c, bound: c.Limits.IDs(c.Features), features: c.Features}
	return p, text.Config{
		Format: c.format(), Comment: '#', Parse: p.parse, Limits: c.Limits, Paths: c.Paths, Features: c.Features, Split: c.Split,
		Share: c.Share && c.Features > 0,
	}, nil
}

// learn finds the largest id of all training records.
func (p *parser) learn(ctx context.Context, s *text.Set) error {
	facts := s.Facts()
	dense := p.config.Dense
	p.config.Dense = false // no row has a length yet
	largest, record := int64(-1), 0
	err := s.Scan(ctx, facts.Blocks.Len(), p.config.Tolerate, func(i int, b *input.Batch) {
		if len(b.X.Bags.Slot) == 0 {
			return
		}
		if id := int64(slices.Max(b.X.Bags.Slot)); id > largest || id == largest && i < record {
			largest, record = id, i
		}
	})
	p.config.Dense = dense
	if err != nil {
		return err
	}
	if largest < 0 && facts.Records > 0 {
		if _, err := input.LearnShape(ctx, s, math.MaxInt64); err != nil { // all are bad
			return err
		}
		return exitcode.With(exitcode.BadData, fmt.Errorf("%s: no record of any file has an index:value", p.config.format()))
	}
	p.features = int(largest + 1)
	if p.config.Split.Holds() {
		p.bound = input.Limits{Trained: true}.IDs(p.features)
	}
	s.SetFeatures(p.features)
	if !dense {
		return nil
	}
	if err := p.config.Limits.Dense(facts.Records, p.features, facts.Bytes); err != nil {
		return s.Fault(record, fmt.Errorf("index is %d, the largest of all: %w", largest+int64(p.config.Base), err))
	}
	return nil
}
