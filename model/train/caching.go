package train

import (
	"context"
	"fmt"

	"ringtrain/input/convert"
	"ringtrain/ring/exitcode"
)

// keeping says where the parsed records of text are kept where the job does not say it, and who
// is told about it.
type keeping struct {
	dir    string
	notice func(string)
}

// cacheSpec puts what the job says of caches into s, of the training records or others.
func (j *Job) cacheSpec(s *convert.Spec, training bool) {
	s.Cache, s.CacheDir, s.Notice = j.Input.Cache, j.keep.dir, j.keep.notice
	s.Again = training && j.Train.Steps == 0 && j.Train.Epochs > 1
}

// awaitCache lets a cache be finished that the job asks for, where the records were read once
// before it was whole.
func (r *run) awaitCache() {
	if c := r.job.Input.Cache; c == convert.CacheAuto || c == convert.CacheOff {
		return
	}
	if g, ok := r.data.train.(interface{ Made() bool }); ok {
		r.team.Progress(r.loop.Step, "cache")
		g.Made()
	}
}

// A Cached is a cache that MakeCaches has made or found.
type Cached struct {
	Key     string // input.train or input.eval
	Name    string
	Records int
}

// MakeCaches makes the caches of the training and validation records of a job, unless they are
// there. The errors are those of convert.MakeCache.
func MakeCaches(ctx context.Context, job *Job, o Options) ([]Cached, error) {
	job.keep = keeping{o.CacheDir, o.Notice}
	if err := job.compileColumns(o.Roots); err != nil {
		return nil, err
	}
	var all []Cached
	for _, s := range []split{
		{key: "input.train", files: job.Input.Train, features: job.declaredFeatures(), learn: true},
		{key: "input.eval", files: job.Input.Eval, features: job.Model.Features},
	} {
		if s.files.Format == "" {
			continue
		}
		spec := job.splitSpec(s)
		var err error
		if spec.Files, err = s.files.expand(o.Roots); err != nil {
			return all, fmt.Errorf("%s: %w", s.key, err)
		}
		if s.key == "input.eval" && s.features == 0 && job.plan == nil {
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
