package records

import (
	"context"
	"fmt"

	"ringtrain/input/convert"
	"ringtrain/model/job"
	"ringtrain/ring/exitcode"
)

// Cached describes a cache that MakeCaches made or found.
type Cached struct {
	Key     string // input.train or input.eval
	Name    string
	Records int
}

// MakeCaches makes the caches of the training and validation records of a job, unless they exist. Its
// errors are those of convert.MakeCache.
func MakeCaches(ctx context.Context, cfg *job.Config, opts Options) ([]Cached, error) {
	o := NewOpener(cfg, opts)
	if err := o.compileLabelled(ctx); err != nil {
		return nil, err
	}
	var all []Cached
	for _, s := range []split{
		{key: "input.train", files: cfg.Input.Train, features: cfg.DeclaredFeatures(), learn: true},
		{key: "input.eval", files: cfg.Input.Eval, features: cfg.Model.Features},
	} {
		if s.files.Format == "" {
			continue
		}
		spec := o.splitSpec(s)
		var err error
		if spec.Origin, err = o.find(ctx, spec.Origin, s.key); err != nil {
			return all, fmt.Errorf("%s: %w", s.key, err)
		}
		if s.key == "input.eval" && s.features == 0 && o.plan == nil {
			return all, exitcode.With(exitcode.Usage, fmt.Errorf("model.features is 0, want the number of features: the validation records depend on it"))
		}
		name, records, err := convert.MakeCache(ctx, spec)
		if err != nil {
			return all, fmt.Errorf("%s: %w", s.key, err)
		}
		all = append(all, Cached{s.key, name, records})
	}
	return all, nil
}
