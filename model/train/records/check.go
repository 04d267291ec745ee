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

// Check reads the training records of a job once, and those of input.eval or input.split, and returns what ends the job or
// is likely wrong. A job that draws its records is an error with exitcode.Usage.
func Check(ctx context.Context, cfg *job.Config, opts Options) (*look.Report, error) {
	if cfg.Input.Synthetic {
		return nil, exitcode.With(exitcode.Usage, errors.New("input.synthetic is true, want files to check"))
	}
	o := NewOpener(cfg, opts)
	if err := o.compileLabelled(ctx); err != nil {
		return nil, err
	}
	specs := make([]*convert.Spec, 2)
	for i, s := range []split{
		{key: "input.train", files: cfg.Input.Train, features: cfg.DeclaredFeatures(), learn: true},
		{key: "input.eval", files: cfg.Input.Eval, features: cfg.Model.Features},
	} {
		if s.files.Format == "" {
			continue
		}
		spec := o.splitSpec(s)
		found, err := o.find(ctx, spec.Origin, "")
		if err != nil {
			return nil, adviseOnMissing(cfg, fmt.Errorf("%s: %w", s.key, err))
		}
		spec.Origin, specs[i] = found, &spec
	}
	return look.Check(ctx, specs[0], specs[1])
}
