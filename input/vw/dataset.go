package vw

import (
	"context"
	"errors"
	"fmt"

	"ringtrain/input"
	"ringtrain/input/text"
	"ringtrain/ring/exitcode"
)

// DefaultFeatures is the number of features where nobody says it, as of vw -b 18.
const DefaultFeatures = 1 << 18

// Config says how the lines are read.
type Config struct {
	Features int // number of features, modulo which names are hashed; 0: DefaultFeatures
	Limits   input.Limits
	Labels   input.Labels
	Dense    bool        // rows of Features columns, 0 where a feature is absent
	Tolerate bool        // lines that are bad are no fault of Open
	Share    bool        // see text.Config
	Split    input.Split // see text.Config

	Paths []string // see text.Config
}

// Open counts the records of files, or with Share leaves them to CountShare, and parses
// those of the first MiB. Another bad line is an error when its record is due.
//
// Errors name file, line, record and offset. Codes: exitcode.NoInput, exitcode.BadData,
// exitcode.IO, and exitcode.Usage for c.
func Open(ctx context.Context, files []string, c Config) (*text.Set, error) {
	t, err := Lines(c)
	if err != nil {
		return nil, err
	}
	s, err := text.Open(ctx, files, t)
	if err != nil {
		return nil, err
	}
	if c.Dense {
		if err := c.Limits.Dense(s.Facts().Records, t.Features, s.Facts().Bytes); err != nil {
			return nil, errors.Join(exitcode.With(exitcode.BadData, fmt.Errorf("vw: %w", err)), s.Close())
		}
	}
	if !c.Tolerate {
		if err := s.Check(ctx); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// Lines returns how lines are read, by Open or from first to last by text.EachPart.
func Lines(c Config) (text.Config, error) {
	if c.Features < 0 || c.Features > input.MaxFeatures {
		return text.Config{}, exitcode.With(exitcode.Usage, fmt.Errorf("features is %d, want one in [0, %d]", c.Features, input.MaxFeatures))
	}
	if c.Features == 0 {
		c.Features = DefaultFeatures
	}
	return text.Config{
		Format: "vw", Parse: newParser(c).parse, Limits: c.Limits, Paths: c.Paths, Features: c.Features, Split: c.Split,
		Share: c.Share && !c.Dense, // the number of records limits dense ones
	}, nil
}
