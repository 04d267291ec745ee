package records

import (
	"context"
	"os"
	"path/filepath"
	"slices"

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

// CopyDir returns the folder of copies of what is elsewhere for a value of input.cache, "" for none.
func CopyDir(cache string) string {
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
	return remote.New(remote.Config{Dir: CopyDir(in.Cache), Bytes: int64(in.CacheSize), S3: in.S3, Notice: notice})
}

// gather copies what is elsewhere of all sets of the job, which so is compared with input.cache_size as a whole.
func (o *Opener) gather(ctx context.Context) error {
	all := slices.Concat(o.job.Input.Train.All(), o.job.Input.Eval.All())
	for _, e := range o.job.Input.Evals {
		all = append(all, e.Files.All()...)
	}
	_, err := o.places.Files(ctx, all...)
	return err
}
