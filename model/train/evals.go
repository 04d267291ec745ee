package train

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ringtrain/input"
)

// NamedFiles is an item of input.evals: records that are evaluated beside input.eval, with
// an event of their own.
type NamedFiles struct {
	Name  string `yaml:"name"` // in the event, and of the curves
	Files        // as of input.eval
}

// checkEvals checks the items of input.evals.
func (in *Input) checkEvals(f *faults, sparse bool) {
	for i := range in.Evals {
		e := &in.Evals[i]
		key := evalKey(e.Name, i)
		if e.Name == "" {
			f.add("%s.name is empty, want a name for its events", key)
		}
		if e.Format == "" {
			f.add("%s.format is empty, want one of %s", key, strings.Join(formats(), ", "))
		}
		*f = append(*f, e.check(key, sparse)...)
	}
}

// evalKey is the key of an item of input.evals: by its name, or by its number.
func evalKey(name string, i int) string {
	if name == "" {
		name = fmt.Sprint(i)
	}
	return "input.evals." + name
}

// evalSet is an item of input.evals that is open.
type evalSet struct {
	files NamedFiles
	data  input.Dataset
}

// openEvals opens the items of input.evals, for a model of so many features and the
// classes that the training records name.
func openEvals(job *Job, roots []string, features int, classes []string) ([]evalSet, error) {
	if job.Input.Synthetic {
		return nil, nil
	}
	var all []evalSet
	for i, e := range job.Input.Evals {
		d, err := openSplit(job, split{key: evalKey(e.Name, i), files: e.Files, features: features, classes: classes}, roots)
		if err != nil {
			closeEvals(all)
			return nil, err
		}
		all = append(all, evalSet{e, d})
	}
	return all, nil
}

func closeEvals(all []evalSet) error {
	var faults []error
	for _, e := range all {
		faults = append(faults, e.data.Close())
	}
	return errors.Join(faults...)
}

// agreed are what must be equal of the set on all ranks: all but the names of its files.
func (e evalSet) agreed(i int) []Option {
	key, f := evalKey(e.files.Name, i), e.files
	read := fmt.Sprintf("%s label %q ids %q values %q compression %q base %d", f.Format, f.Label, f.IDs, f.Values, f.Compression, f.Base)
	return []Option{{key, read}, {key + ".manifest", strings.Join(e.data.Manifest(), " ")}}
}

// evaluateOthers evaluates the items of input.evals, in their order, up to one that fails.
func (r *run) evaluateOthers(ctx context.Context) ([]Metrics, error) {
	var all []Metrics
	for i := range r.others {
		m, err := r.others[i].Run(ctx, r.team.Group)
		if failed, ok := errors.AsType[evalFailure](err); ok {
			failed.Text = evalKey(r.others[i].Name, i) + ": " + failed.Text
		}
		if err != nil {
			return all, err
		}
		all = append(all, m)
	}
	return all, nil
}
