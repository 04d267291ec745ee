package records

import (
	"context"
	"os"
	"path/filepath"

	"ringtrain/input"
	"ringtrain/input/convert"
	"ringtrain/input/remote"
	"ringtrain/model/job"
)

// CacheDir returns the folder of parsed records and of copies for input.cache auto, "" if the user has no cache folder.
func CacheDir() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "ringtrain", "records")
}

// copyDir returns the folder of copies of what is elsewhere for a value of input.cache, "" for none.
func copyDir(cache string) string {
	switch cache {
	case convert.CacheOff:
		return ""
	case convert.CacheAuto, "":
		cache = CacheDir()
	}
	return remote.Dir(cache)
}

// Places returns what copies records to this host that are elsewhere, by the keys of input.
func Places(in job.Input, notice func(string)) *remote.Store {
	return remote.New(remote.Config{Dir: copyDir(in.Cache), Bytes: int64(in.CacheSize), S3: in.S3, Notice: notice})
}

// far returns a name of the job as it is elsewhere, if the data folder is.
func (o *Opener) far(name string) string {
	if len(o.opts.Roots) == 0 {
		return name
	}
	return remote.Below(o.opts.Roots[0], name)
}

// gather copies what is elsewhere of all sets of the job, which so is compared with input.cache_size as a whole. It returns
// what must be the same on all hosts: the objects of each set.
func (o *Opener) gather(ctx context.Context) ([]job.Option, error) {
	in := o.job.Input
	sets := []job.NamedFiles{{Name: "input.train", Files: in.Train}, {Name: "input.eval", Files: in.Eval}}
	for i, e := range in.Evals {
		sets = append(sets, job.NamedFiles{Name: job.EvalKey(e.Name, i), Files: e.Files})
	}
	var all []string
	for _, s := range sets {
		all = append(all, s.Files.Rename(o.far).All()...)
	}
	if _, err := o.places.Files(ctx, all...); err != nil {
		return nil, err
	}
	var agreed []job.Option
	for _, s := range sets {
		if lines := o.places.Manifest(s.Files.Rename(o.far).All()...); len(lines) > 0 {
			agreed = append(agreed, job.Option{Key: "the objects differ: " + s.Name, Value: input.ManifestText(lines)})
		}
	}
	return agreed, nil
}
