package records

import (
	"context"
	"errors"

	"ringtrain/input"
	"ringtrain/model/job"
)

// EvalSet is an open item of input.evals.
type EvalSet struct {
	Files job.NamedFiles
	Data  input.Dataset
}

// OpenEvals opens the items of input.evals for a model of so many features.
func (o *Opener) OpenEvals(ctx context.Context, features int) ([]EvalSet, error) {
	if o.job.Input.Synthetic {
		return nil, nil
	}
	var all []EvalSet
	for i, e := range o.job.Input.Evals {
		d, err := o.openSplit(ctx, split{key: job.EvalKey(e.Name, i), files: e.Files, features: features})
		if err != nil {
			CloseEvals(all)
			return nil, err
		}
		all = append(all, EvalSet{e, d})
	}
	return all, nil
}

// CloseEvals releases the files of all.
func CloseEvals(all []EvalSet) error {
	var faults []error
	for _, e := range all {
		faults = append(faults, e.Data.Close())
	}
	return errors.Join(faults...)
}

// Agreed returns the options of the set that must be equal on all ranks: all but the names of its
// files.
func (e EvalSet) Agreed(i int) []job.Option {
	key := job.EvalKey(e.Files.Name, i)
	return []job.Option{{Key: key, Value: e.Files.How()}, {Key: key + ".manifest", Value: input.ManifestText(e.Data.Facts().Manifest)}}
}
