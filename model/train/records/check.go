package records

import (
	"context"
	"errors"
	"fmt"

	"ringtrain/input/convert"
	"ringtrain/input/look"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

// Check reads the training records of a job once, and those of input.eval or input.split, and returns what ends the job or is likely
// wrong. A job without columns is an error with exitcode.Usage.
func Check(ctx context.Context, cfg *job.Config, opts Options) (*look.Report, error) {
	o := NewOpener(cfg, opts)
	if err := o.compileLabelled(ctx); err != nil {
		return nil, err
	}
	if o.plan == nil {
		return nil, exitcode.With(exitcode.Usage, errors.New("input.columns is empty, want the columns to check"))
	}
	specs := make([]*convert.Spec, 2)
	for i, s := range []split{{key: "input.train", files: cfg.Input.Train, learn: true}, {key: "input.eval", files: cfg.Input.Eval}} {
		if s.files.Format == "" {
			continue
		}
		spec := o.splitSpec(s)
		found, err := spec.Find(opts.Roots, opts.Notice)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.key, err)
		}
		spec.Origin, specs[i] = found, &spec
	}
	return look.Check(ctx, specs[0], specs[1])
}
