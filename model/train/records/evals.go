package records

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ringtrain/input"
	"ringtrain/model/job"
)

// EvalSet is an open item of input.evals.
type EvalSet struct {
	Files job.NamedFiles
	Data  input.Dataset
}

// OpenEvals opens the items of input.evals for a model of so many features. Classes are those
// that the training records name.
func (o *Opener) OpenEvals(ctx context.Context, features int, classes []string) ([]EvalSet, error) {
	if o.job.Input.Synthetic {
		return nil, nil
	}
	var all []EvalSet
	for i, e := range o.job.Input.Evals {
		d, err := o.openSplit(ctx, split{key: job.EvalKey(e.Name, i), files: e.Files, features: features, classes: classes})
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
	key, f := job.EvalKey(e.Files.Name, i), e.Files
	read := fmt.Sprintf("%s label %q ids %q values %q compression %q base %d", f.Format, f.Label, f.IDs, f.Values, f.Compression, f.Base)
	if f.Header || f.Separator != "" {
		read += fmt.Sprintf(" header %t separator %q", f.Header, f.Separator)
	}
	return []job.Option{{Key: key, Value: read}, {Key: key + ".manifest", Value: strings.Join(e.Data.Facts().Manifest, " ")}}
}
